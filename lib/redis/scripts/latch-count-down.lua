-- Counts down, and opens the latch at 0.
-- KEYS count, request  ARGV PUBLISH or SPUBLISH, channel, life of the answer (ms)  -> what is left
-- include request
local answered = redis.call('get', KEYS[2])
if answered then
  return tonumber(answered)
end
local count = tonumber(redis.call('get', KEYS[1]) or 0) - 1
if count > 0 then
  redis.call('decr', KEYS[1])
elseif count == 0 then
  redis.call('del', KEYS[1])
  redis.call(ARGV[1], ARGV[2], '0')
end
return remember(KEYS[2], math.max(count, 0), ARGV[3])
