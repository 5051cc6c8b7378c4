-- How many permits are free, and how many are not.
-- KEYS free, timeouts, wanted  ARGV wanted or ''  -> {free, taken}
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local expired = redis.call('zcount', KEYS[2], 0, now) -- they come back with the next command that takes any
local available = tonumber(redis.call('get', KEYS[1]) or 0)
if not available then
  return redis.error_reply('WRONGTYPE not a number')
end
local free = available + expired
local taken = redis.call('zcard', KEYS[2]) - expired
if ARGV[1] ~= '' then -- the next command that takes any sets it, under the same condition
  local before = redis.call('get', KEYS[3])
  if redis.call('exists', KEYS[1]) == 0 or before and before ~= ARGV[1] then
    free = tonumber(ARGV[1]) - taken
  end
end
return { free, taken }
