// Made of permit-lease.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const permitLease = new Script('permit-lease', `-- How long a permit is still held.
-- KEYS timeouts  ARGV id  -> ms, -1 without an end, or nil when it is not held
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local deadline = tonumber(redis.call('zscore', KEYS[1], ARGV[1]))
if not deadline or deadline <= now then
  return false
end
return deadline >= 922337203685477 and -1 or deadline - now
`);
