-- Sets the lease of a permit.
-- KEYS timeouts, request  ARGV id, lease (ms), life of the answer (ms)  -> 1: done, 0: it is not held
-- include clock
-- include request
local answered = redis.call('get', KEYS[2])
if answered then
  return tonumber(answered)
end
local deadline = tonumber(redis.call('zscore', KEYS[1], ARGV[1]))
if not deadline or deadline <= now then
  return remember(KEYS[2], 0, ARGV[3])
end
redis.call('zadd', KEYS[1], 'xx', now + ARGV[2], ARGV[1])
return remember(KEYS[2], 1, ARGV[3])
