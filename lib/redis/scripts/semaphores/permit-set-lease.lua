-- Sets the lease of a permit.
-- KEYS timeouts, requests  ARGV number, first, life (ms), id, lease (ms)  -> 1: done, 0: it is not held
-- include clock
-- include requests
local answered = earlier(KEYS[2])
if answered then
  return answered
end
local deadline = tonumber(redis.call('zscore', KEYS[1], ARGV[4]))
if not deadline or deadline <= now then
  return remember(KEYS[2], 0)
end
redis.call('zadd', KEYS[1], 'xx', now + ARGV[5], ARGV[4])
return remember(KEYS[2], 1)
