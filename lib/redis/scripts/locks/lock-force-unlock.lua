-- Takes the lock from its holder, a fair lock too, and wakes the waiters.
-- KEYS lock, queue, requests
-- ARGV number, first, life (ms), PUBLISH or SPUBLISH, channel, key of its waiters or ''
-- -> 1: it was held
-- include requests
-- include waiters
local answered = earlier(KEYS[3])
if answered then
  return answered
end
local found = redis.call('exists', KEYS[1])
if found == 1 and redis.call('hexists', KEYS[1], 'mode') == 1 then
  return redis.error_reply('LOCKKIND a read/write lock')
end
redis.call('del', KEYS[1])
wakeNext(ARGV[6], ARGV[4], ARGV[5], redis.call(ARGV[4], ARGV[5], '0'))
local head = redis.call('lindex', KEYS[2], 0)
if head then
  redis.call(ARGV[4], ARGV[5] .. ':' .. head, '0')
end
return remember(KEYS[3], found)
