-- How long a permit is still held.
-- KEYS timeouts  ARGV id  -> ms, -1 without an end, or nil when it is not held
-- include clock
local deadline = tonumber(redis.call('zscore', KEYS[1], ARGV[1]))
if not deadline or deadline <= now then
  return false
end
return deadline >= 922337203685477 and -1 or deadline - now
