-- Releases permits, or the place in the queue for them, and wakes the waiters.
-- KEYS free, timeouts, queue, alive, number of the last extension, wanted
-- ARGV holder (12 bytes, and how many permits in 4), holder as text, PUBLISH or SPUBLISH, channel, tombstone to leave or '',
--      time to live (ms) or ''
-- -> how many listen; -1: it had none
-- include gone
-- include permits
-- include time-to-live
local free, timeouts, queue, alive = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local channel = ARGV[4]
bury(ARGV[5])

local released = 0
eachThousand(ARGV[1], function(ids)
  released = released + redis.call('zrem', timeouts, unpack(ids))
end)
redis.call('lrem', queue, 1, ARGV[2])
redis.call('zrem', alive, ARGV[2])
redis.call('del', KEYS[5])
local available = 0
local listening = -1
if released > 0 then
  available = redis.call('incrby', free, released)
  listening = available > 0 and redis.call(ARGV[3], channel, available) or 0
else
  available = tonumber(redis.call('get', free) or 0)
end
forgetUnlessUsed(free, timeouts, KEYS[6], ARGV[6])
local first = redis.call('lindex', queue, 0)
if first and available > 0 then
  listening = math.max(listening, 0) + redis.call(ARGV[3], channel .. ':' .. first, '1')
end
return listening
