-- Releases the permits with these ids, all or none, and wakes the waiters.
-- KEYS free, timeouts, queue, requests  ARGV number, first, life (ms), PUBLISH or SPUBLISH, channel, id...
-- -> 1: done; 0: one of them is unknown or over
-- include clock
-- include requests
-- include wake
local free, timeouts, queue, channel = KEYS[1], KEYS[2], KEYS[3], ARGV[5]
local answered = earlier(KEYS[4])
if answered then
  return answered
end
for i = 6, #ARGV do
  local deadline = redis.call('zscore', timeouts, ARGV[i])
  if not deadline or tonumber(deadline) <= now then
    return remember(KEYS[4], 0)
  end
end
local released = 0
for i = 6, #ARGV do
  released = released + redis.call('zrem', timeouts, ARGV[i])
end
wake(queue, ARGV[4], channel, redis.call('incrby', free, released))
return remember(KEYS[4], 1)
