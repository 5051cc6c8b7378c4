// Made of latch-delete.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const latchDelete = new Script('latch-delete', `-- Deletes the latch, which opens it, and publishes that: what Redisson publishes here, the 1 of a new count, does not wake
-- those of its own who wait.
-- Idempotent: a request that is sent again deletes nothing that was made since.
-- KEYS count, channel, request  ARGV PUBLISH or SPUBLISH, life of the answer (ms)  -> 1: it was closed
if redis.call('exists', KEYS[3]) == 1 then
  return 1
end
if not redis.call('get', KEYS[1]) then
  return 0
end
redis.call('del', KEYS[1])
redis.call(ARGV[1], KEYS[2], '0')
redis.call('set', KEYS[3], 1, 'px', ARGV[2])
return 1
`);
