// Made of read-write-force-unlock.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const readWriteForceUnlock = new Script('read-write-force-unlock', `-- Takes the lock from all who hold it in that mode, and wakes the waiters, as the releases do.
-- KEYS lock, request  ARGV PUBLISH or SPUBLISH, channel, life of the answer (ms), mode  -> 1: it was held so
-- A request that counts once has a key that remembers its answer, "not done" too: a copy of it that arrives later changes
-- nothing, whatever has happened since.
local function remember(request, answer, life)
  redis.call('set', request, answer, 'px', life)
  return answer
end
local answered = redis.call('get', KEYS[2])
if answered then
  return tonumber(answered)
end
if redis.call('hget', KEYS[1], 'mode') ~= ARGV[4] then
  return remember(KEYS[2], 0, ARGV[3])
end
redis.call('del', KEYS[1])
if ARGV[4] == 'write' then
  redis.call(ARGV[1], ARGV[2], '1')
end
redis.call(ARGV[1], ARGV[2], '0')
return remember(KEYS[2], 1, ARGV[3])
`);
