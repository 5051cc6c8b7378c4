-- Counts down, and opens the latch at 0.
-- KEYS count, requests  ARGV number, first, life (ms), PUBLISH or SPUBLISH, channel  -> what is left
-- include requests
local answered = earlier(KEYS[2])
if answered then
  return answered
end
local count = tonumber(redis.call('get', KEYS[1]) or 0) - 1
if count > 0 then
  redis.call('decr', KEYS[1])
elseif count == 0 then
  redis.call('del', KEYS[1])
  redis.call(ARGV[4], ARGV[5], '0')
end
return remember(KEYS[2], math.max(count, 0))
