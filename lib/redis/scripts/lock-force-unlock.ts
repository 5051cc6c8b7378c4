// Made of lock-force-unlock.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const lockForceUnlock = new Script('lock-force-unlock', `-- Takes the lock from whoever holds it, of the fair lock too, and wakes who waits.
-- KEYS lock, channel, queue  ARGV PUBLISH or SPUBLISH  -> 1: it was held
local found = redis.call('exists', KEYS[1])
if found == 1 and redis.call('hexists', KEYS[1], 'mode') == 1 then
  return redis.error_reply('LOCKKIND a read/write lock')
end
redis.call('del', KEYS[1])
redis.call(ARGV[1], KEYS[2], '0')
local head = redis.call('lindex', KEYS[3], 0)
if head then
  redis.call(ARGV[1], KEYS[2] .. ':' .. head, '0')
end
return found
`);
