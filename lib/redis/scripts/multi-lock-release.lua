-- Gives many locks of one holder back, and wakes who waits for them.
-- KEYS lock, channel, for each  ARGV holder, PUBLISH or SPUBLISH  -> how many of them it held
local released = 0
for i = 1, #KEYS, 2 do
  if redis.pcall('hexists', KEYS[i], ARGV[1]) == 1 then -- another type: whatever it is, it is not the lock
    redis.call('del', KEYS[i])
    redis.call(ARGV[2], KEYS[i + 1], '0')
    released = released + 1
  end
end
return released
