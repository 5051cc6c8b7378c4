// Made of lock-force-unlock.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const lockForceUnlock = new Script('lock-force-unlock', `-- Takes the lock from its holder, a fair lock too, and wakes the waiters.
-- KEYS lock, queue, request  ARGV PUBLISH or SPUBLISH, channel, life of the answer (ms)  -> 1: it was held
-- A request that counts once has a key that remembers its answer, "not done" too: a copy of it that arrives later changes
-- nothing, whatever has happened since.
local function remember(request, answer, life)
  redis.call('set', request, answer, 'px', life)
  return answer
end
local answered = redis.call('get', KEYS[3])
if answered then
  return tonumber(answered)
end
local found = redis.call('exists', KEYS[1])
if found == 1 and redis.call('hexists', KEYS[1], 'mode') == 1 then
  return redis.error_reply('LOCKKIND a read/write lock')
end
redis.call('del', KEYS[1])
redis.call(ARGV[1], ARGV[2], '0')
local head = redis.call('lindex', KEYS[2], 0)
if head then
  redis.call(ARGV[1], ARGV[2] .. ':' .. head, '0')
end
return remember(KEYS[3], found, ARGV[3])
`);
