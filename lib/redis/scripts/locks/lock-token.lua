-- The next fencing token, for the holder of the lock.
-- KEYS lock, token  ARGV field of the holder  -> token, or nil when it does not hold
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
  return false
end
return redis.call('incr', KEYS[2])
