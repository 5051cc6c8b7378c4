-- Releases locks of one holder, or ends its wait for them, and wakes the waiters.
-- KEYS lock...
-- ARGV holder, PUBLISH or SPUBLISH or '': wakes none; for each lock its channel, a tombstone to leave or '', and the key of its
--      waiters or ''
-- -> how many listen; -1: it held none of them
-- include gone
-- include waiters
local listening = -1
for i, lock in ipairs(KEYS) do
  local channel, tombstone, waiters = ARGV[3 * i], ARGV[3 * i + 1], ARGV[3 * i + 2]
  bury(tombstone)
  if redis.pcall('hexists', lock, ARGV[1]) == 1 then -- another type: whatever it is, it is not the lock
    redis.call('del', lock)
    listening = math.max(listening, 0)
    if ARGV[2] ~= '' then
      listening = listening + wakeNext(waiters, ARGV[2], channel, redis.call(ARGV[2], channel, '0'))
    end
  else
    leaveWaiters(waiters, ARGV[1], lock, ARGV[2], channel)
  end
end
return listening
