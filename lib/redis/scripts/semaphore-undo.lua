-- Gives back what a request has taken that no caller waits for any more.
-- KEYS permits, request  ARGV PUBLISH or SPUBLISH, channel, life of the answer (ms); 0: no copy of the request may follow
-- -> how many listen; -1: it had taken none
local taken = tonumber(redis.call('get', KEYS[2]) or 0)
redis.call('del', KEYS[2])
if ARGV[3] ~= '0' then
  redis.call('set', KEYS[2], 0, 'px', ARGV[3])
end
if taken == 0 then
  return -1
end
local value = redis.call('incrby', KEYS[1], taken)
return value > 0 and redis.call(ARGV[1], ARGV[2], value) or 0
