-- Changes the number of permits without an owner, and wakes the waiters.
-- Modes: 'release' and 'add' so many, 'release-if-exists', 'try' where there is none yet, 'drain' to 0.
-- KEYS permits, requests  ARGV number, first, life (ms), PUBLISH or SPUBLISH, channel, mode, how many, [life (ms)]
-- -> 1: done, 0: not done; how many there were when they are drained
-- include requests
local permits, mode = KEYS[1], ARGV[6]
local answered = earlier(KEYS[2])
if answered then
  return answered
end
local value = redis.call('get', permits)
if value and not tonumber(value) then
  return redis.error_reply('WRONGTYPE not a number')
end
local answer = 1
if mode == 'try' and value or mode == 'release-if-exists' and not value then
  answer = 0
elseif mode == 'drain' then
  answer = tonumber(value or 0)
  if value then
    redis.call('set', permits, 0)
  end
elseif mode == 'try' then
  redis.call('set', permits, ARGV[7])
  if ARGV[8] then
    redis.call('pexpire', permits, ARGV[8])
  end
else
  redis.call('incrby', permits, ARGV[7])
end
local now = tonumber(redis.call('get', permits) or 0)
if mode ~= 'drain' and answer == 1 and now > 0 then
  redis.call(ARGV[4], ARGV[5], now)
end
return remember(KEYS[2], answer)
