// Made of read-write-force-unlock.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const readWriteForceUnlock = new Script('read-write-force-unlock', `-- Takes the lock from all who hold it in that mode, and wakes who waits.
-- KEYS lock, channel  ARGV mode, message, PUBLISH or SPUBLISH  -> 1: it was held so
if redis.call('hget', KEYS[1], 'mode') ~= ARGV[1] then
  return 0
end
redis.call('del', KEYS[1])
redis.call(ARGV[3], KEYS[2], ARGV[2])
return 1
`);
