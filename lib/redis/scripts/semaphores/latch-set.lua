-- Closes the latch, where it is open.
-- KEYS count, requests  ARGV number, first, life (ms), PUBLISH or SPUBLISH, channel, count  -> 1: done, 0: it was closed
-- include requests
local answered = earlier(KEYS[2])
if answered then
  return answered
end
if redis.call('get', KEYS[1]) then
  return remember(KEYS[2], 0)
end
redis.call('set', KEYS[1], ARGV[6])
redis.call(ARGV[4], ARGV[5], '1')
return remember(KEYS[2], 1)
