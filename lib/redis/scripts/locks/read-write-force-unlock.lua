-- Takes the lock from all its holders in that mode, and wakes the waiters, as the releases do.
-- KEYS lock, readers, requests
-- ARGV number, first, life (ms), PUBLISH or SPUBLISH, channel, mode, key of the waiters or ''
-- -> 1: it was held so
-- include requests
-- include waiters
local answered = earlier(KEYS[3])
if answered then
  return answered
end
if redis.call('hget', KEYS[1], 'mode') ~= ARGV[6] then
  return remember(KEYS[3], 0)
end
redis.call('del', KEYS[1], KEYS[2])
if ARGV[6] == 'write' then
  redis.call(ARGV[4], ARGV[5], '1')
end
wakeNext(ARGV[7], ARGV[4], ARGV[5], redis.call(ARGV[4], ARGV[5], '0'))
return remember(KEYS[3], 1)
