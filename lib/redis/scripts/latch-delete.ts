// Made of latch-delete.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const latchDelete = new Script('latch-delete', `-- Deletes the latch, which opens it, and publishes that: what Redisson publishes here, the 1 of a new count, does not wake
-- its own waiters.
-- KEYS count, request  ARGV PUBLISH or SPUBLISH, channel, life of the answer (ms)  -> 1: it was closed
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
if not redis.call('get', KEYS[1]) then
  return remember(KEYS[2], 0, ARGV[3])
end
redis.call('del', KEYS[1])
redis.call(ARGV[1], ARGV[2], '0')
return remember(KEYS[2], 1, ARGV[3])
`);
