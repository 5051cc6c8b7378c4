-- Raises a counter of fencing tokens to at least a token that was issued elsewhere, for the holder of the lock.
-- KEYS lock, token  ARGV field of the holder, token  -> 1, or 0 when it does not hold
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
  return 0
end
if tonumber(redis.call('get', KEYS[2]) or 0) < tonumber(ARGV[2]) then
  redis.call('set', KEYS[2], ARGV[2])
end
return 1
