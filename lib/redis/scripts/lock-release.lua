-- Gives the lock back and wakes who waits for it.
-- KEYS lock, [channel]  ARGV holder, [PUBLISH or SPUBLISH]  -> how many listen; -1: it was not held
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
  return -1
end
redis.call('del', KEYS[1])
return KEYS[2] and redis.call(ARGV[2], KEYS[2], '0') or 0
