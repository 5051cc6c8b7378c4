-- Counts down, and opens the latch at 0.
-- Idempotent: a request that is sent again counts once.
-- KEYS count, channel, request  ARGV PUBLISH or SPUBLISH, life of the answer (ms)  -> what is left
local answered = redis.call('get', KEYS[3])
if answered then
  return tonumber(answered)
end
local count = tonumber(redis.call('get', KEYS[1]) or 0) - 1
if count > 0 then
  redis.call('decr', KEYS[1])
elseif count == 0 then
  redis.call('del', KEYS[1])
  redis.call(ARGV[1], KEYS[2], '0')
end
count = math.max(count, 0)
redis.call('set', KEYS[3], count, 'px', ARGV[2])
return count
