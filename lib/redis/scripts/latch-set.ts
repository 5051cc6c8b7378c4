// Made of latch-set.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const latchSet = new Script('latch-set', `-- Closes the latch, where it is open.
-- Idempotent: a request that is sent again closes it once.
-- KEYS count, channel, request  ARGV PUBLISH or SPUBLISH, life of the answer (ms), count  -> 1: done, 0: it was closed
if redis.call('exists', KEYS[3]) == 1 then
  return 1
end
if redis.call('get', KEYS[1]) then
  return 0
end
redis.call('set', KEYS[1], ARGV[3])
redis.call(ARGV[1], KEYS[2], '1')
redis.call('set', KEYS[3], 1, 'px', ARGV[2])
return 1
`);
