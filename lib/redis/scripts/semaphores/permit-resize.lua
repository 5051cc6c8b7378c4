-- Changes how many permits there are: 'try' where there is no semaphore yet, 'set' to so many, 'add' so many; wakes the
-- waiters.
-- KEYS free, timeouts, queue, requests
-- ARGV number, first, life (ms), PUBLISH or SPUBLISH, channel, key of the waiters or '',
--      mode, how many
-- -> 1: done, 0: not done
-- include requests
-- include waiters
-- include wake
local free, timeouts, queue, channel = KEYS[1], KEYS[2], KEYS[3], ARGV[5]
local mode, more = ARGV[7], tonumber(ARGV[8])
local answered = earlier(KEYS[4])
if answered then
  return answered
end
local available = tonumber(redis.call('get', free) or 0)
if not available then
  return redis.error_reply('WRONGTYPE not a number')
end
if mode == 'try' and redis.call('exists', free) == 1 then
  return remember(KEYS[4], 0)
end
if mode == 'set' then
  more = more - available - redis.call('zcard', timeouts)
end
wake(queue, ARGV[6], ARGV[4], channel, redis.call('incrby', free, more))
return remember(KEYS[4], 1)
