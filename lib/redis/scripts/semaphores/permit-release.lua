-- Releases permits, or ends a wait for them, and wakes the waiters.
-- KEYS free, timeouts, queue, alive, number of the last extension, wanted
-- ARGV holder (12 bytes, and how many permits in 4), holder as text, PUBLISH or SPUBLISH, channel, tombstone to leave or '',
--      time to live (ms) or '', key of the waiters or ''
-- -> how many listen; -1: it had none
-- include gone
-- include permits
-- include time-to-live
-- include waiters
-- include wake
local free, timeouts, queue, alive = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local publish, channel, waiters = ARGV[3], ARGV[4], ARGV[7]
bury(ARGV[5])

local released = 0
eachThousand(ARGV[1], function(ids)
  released = released + redis.call('zrem', timeouts, unpack(ids))
end)
redis.call('lrem', queue, 1, ARGV[2])
redis.call('zrem', alive, ARGV[2])
redis.call('del', KEYS[5])
local available = released > 0 and redis.call('incrby', free, released) or tonumber(redis.call('get', free) or 0)
forgetUnlessUsed(free, timeouts, KEYS[6], ARGV[6])
if released > 0 then
  return wake(queue, waiters, publish, channel, available)
end
if stopWaiting(waiters, ARGV[2]) then
  wakeRegistered(waiters, publish, channel, 1)
end
wakeSome(queue, waiters, publish, channel, available) -- it may have been woken to take them
return -1
