-- Takes the lock from all its holders in that mode, and wakes the waiters, as the releases do.
-- KEYS lock, requests  ARGV number, first, life (ms), PUBLISH or SPUBLISH, channel, mode  -> 1: it was held so
-- include requests
local answered = earlier(KEYS[2])
if answered then
  return answered
end
if redis.call('hget', KEYS[1], 'mode') ~= ARGV[6] then
  return remember(KEYS[2], 0)
end
redis.call('del', KEYS[1])
if ARGV[6] == 'write' then
  redis.call(ARGV[4], ARGV[5], '1')
end
redis.call(ARGV[4], ARGV[5], '0')
return remember(KEYS[2], 1)
