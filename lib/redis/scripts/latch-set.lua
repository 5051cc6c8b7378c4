-- Closes the latch, where it is open.
-- KEYS count, request  ARGV PUBLISH or SPUBLISH, channel, life of the answer (ms), count  -> 1: done, 0: it was closed
-- include request
local answered = redis.call('get', KEYS[2])
if answered then
  return tonumber(answered)
end
if redis.call('get', KEYS[1]) then
  return remember(KEYS[2], 0, ARGV[3])
end
redis.call('set', KEYS[1], ARGV[4])
redis.call(ARGV[1], ARGV[2], '1')
return remember(KEYS[2], 1, ARGV[3])
