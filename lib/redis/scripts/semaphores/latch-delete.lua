-- Deletes the latch, which opens it, and publishes that: what Redisson publishes here, the 1 of a new count, does not wake
-- its own waiters.
-- KEYS count, requests  ARGV number, first, life (ms), PUBLISH or SPUBLISH, channel  -> 1: it was closed
-- include requests
local answered = earlier(KEYS[2])
if answered then
  return answered
end
if not redis.call('get', KEYS[1]) then
  return remember(KEYS[2], 0)
end
redis.call('del', KEYS[1])
redis.call(ARGV[4], ARGV[5], '0')
return remember(KEYS[2], 1)
