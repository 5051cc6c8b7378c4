-- Changes how many permits there are: 'try' where there is no semaphore yet, 'set' to so many, 'add' so many; wakes who waits.
-- Idempotent: a request that is sent again is answered as it was.
-- KEYS free, timeouts, channel, queue, request  ARGV PUBLISH or SPUBLISH, life of the answer (ms), mode, how many
-- -> 1: done
local free, timeouts, channel, queue = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local mode, more = ARGV[3], tonumber(ARGV[4])
if redis.call('exists', KEYS[5]) == 1 then
  return 1
end
local available = tonumber(redis.call('get', free) or 0)
if not available then
  return redis.error_reply('WRONGTYPE not a number')
end
if mode == 'try' and redis.call('exists', free) == 1 then
  return 0
end
if mode == 'set' then
  more = more - available - redis.call('zcard', timeouts)
end
available = redis.call('incrby', free, more)
if available > 0 then
  redis.call(ARGV[1], channel, available)
  local first = redis.call('lindex', queue, 0)
  if first then
    redis.call(ARGV[1], channel .. ':' .. first, '1')
  end
end
redis.call('set', KEYS[5], 1, 'px', ARGV[2])
return 1
