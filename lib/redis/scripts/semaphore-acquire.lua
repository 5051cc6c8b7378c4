-- Takes permits that nobody owns. Layout of Redisson's RSemaphore: a number.
-- Idempotent: a request that is sent again is answered as it was; one that was undone takes nothing.
-- KEYS permits, request  ARGV how many, life of the answer (ms)  -> {1, 0}, or {0, -1}: when it is woken
local taken = redis.call('get', KEYS[2])
if taken == '0' then
  return redis.error_reply('GONE the request was undone')
end
if taken then
  return { 1, 0 }
end
local available = tonumber(redis.call('get', KEYS[1]) or 0)
if not available then
  return redis.error_reply('WRONGTYPE not a number')
end
if available < tonumber(ARGV[1]) then
  return { 0, -1 }
end
redis.call('decrby', KEYS[1], ARGV[1])
redis.call('set', KEYS[2], ARGV[1], 'px', ARGV[2])
return { 1, 0 }
