-- Releases locks of one holder and wakes the waiters.
-- KEYS lock...
-- ARGV holder, PUBLISH or SPUBLISH or '': wakes none; for each lock its channel, and a tombstone to leave or ''
-- -> how many listen; -1: it held none of them
-- include gone
local listening = -1
for i, lock in ipairs(KEYS) do
  bury(ARGV[2 * i + 2])
  if redis.pcall('hexists', lock, ARGV[1]) == 1 then -- another type: whatever it is, it is not the lock
    redis.call('del', lock)
    listening = math.max(listening, 0)
    if ARGV[2] ~= '' then
      listening = listening + redis.call(ARGV[2], ARGV[2 * i + 1], '0')
    end
  end
end
return listening
