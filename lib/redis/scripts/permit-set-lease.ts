// Made of permit-set-lease.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const permitSetLease = new Script('permit-set-lease', `-- Sets the lease of a permit.
-- KEYS timeouts, request  ARGV id, lease (ms), life of the answer (ms)  -> 1: done, 0: it is not held
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
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
local deadline = tonumber(redis.call('zscore', KEYS[1], ARGV[1]))
if not deadline or deadline <= now then
  return remember(KEYS[2], 0, ARGV[3])
end
redis.call('zadd', KEYS[1], 'xx', now + ARGV[2], ARGV[1])
return remember(KEYS[2], 1, ARGV[3])
`);
