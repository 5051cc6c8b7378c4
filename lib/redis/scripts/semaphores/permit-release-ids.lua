-- Releases the permits with these ids, all or none, and wakes the waiters.
-- KEYS free, timeouts, queue, wanted, requests
-- ARGV number, first, life (ms), PUBLISH or SPUBLISH, channel, time to live (ms) or '', key of the waiters or '',
--      id...
-- -> 1: done; 0: one of them is unknown or over
-- include clock
-- include requests
-- include time-to-live
-- include waiters
-- include wake
local free, timeouts, queue, channel = KEYS[1], KEYS[2], KEYS[3], ARGV[5]
local answered = earlier(KEYS[5])
if answered then
  return answered
end
for i = 8, #ARGV do
  local deadline = redis.call('zscore', timeouts, ARGV[i])
  if not deadline or tonumber(deadline) <= now then
    return remember(KEYS[5], 0)
  end
end
local released = 0
for i = 8, #ARGV do
  released = released + redis.call('zrem', timeouts, ARGV[i])
end
local available = redis.call('incrby', free, released)
forgetUnlessUsed(free, timeouts, KEYS[4], ARGV[6])
wake(queue, ARGV[7], ARGV[4], channel, available)
return remember(KEYS[5], 1)
