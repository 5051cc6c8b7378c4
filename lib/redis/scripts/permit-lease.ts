// Made of permit-lease.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const permitLease = new Script('permit-lease', `-- What a permit has left, and with a lease sets it anew.
-- KEYS timeouts  ARGV id, [lease (ms); -1: for ever]  -> ms, -1 without an end, or nil when nobody has that permit
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local never = 922337203685477
local deadline = tonumber(redis.call('zscore', KEYS[1], ARGV[1]))
if not deadline or deadline <= now then
  return false
end
if ARGV[2] then
  deadline = ARGV[2] == '-1' and never or now + ARGV[2]
  redis.call('zadd', KEYS[1], 'xx', string.format('%.0f', deadline), ARGV[1])
end
return deadline >= never and -1 or deadline - now
`);
