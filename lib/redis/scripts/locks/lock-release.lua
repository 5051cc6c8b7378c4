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
      listening = listening + wakeWaiters(waiters, ARGV[2], channel)
    end
  elseif waiters ~= '' then
    local place = tonumber(redis.pcall('zscore', waiters, ARGV[1])) or 0
    redis.pcall('zrem', waiters, ARGV[1])
    if place < 0 or redis.call('exists', lock) == 0 then
      wakeFirst(waiters, ARGV[2], channel) -- which listens in its place, or takes what this one was woken to take
    end
  end
end
return listening
