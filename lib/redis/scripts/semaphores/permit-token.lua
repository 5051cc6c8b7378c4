-- The next fencing token, for the holder of a permit.
-- KEYS timeouts, token  ARGV id of the permit  -> token, or nil when it is not held
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local deadline = redis.call('zscore', KEYS[1], ARGV[1])
if not deadline or tonumber(deadline) <= now then
  return false
end
return redis.call('incr', KEYS[2])
