-- Changes the number of permits that nobody owns, and wakes the waiters.
-- Modes: 'release' and 'add' so many, 'release-if-exists', 'try' where there is none yet, 'drain' to 0.
-- KEYS permits, request  ARGV PUBLISH or SPUBLISH, channel, life of the answer (ms), mode, how many, [life (ms)]
-- -> 1: done, 0: not done; how many there were when they are drained
-- include request
local permits, mode = KEYS[1], ARGV[4]
local answered = redis.call('get', KEYS[2])
if answered then
  return tonumber(answered)
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
  redis.call('set', permits, 0)
elseif mode == 'try' then
  redis.call('set', permits, ARGV[5])
  if ARGV[6] then
    redis.call('pexpire', permits, ARGV[6])
  end
else
  redis.call('incrby', permits, ARGV[5])
end
local now = tonumber(redis.call('get', permits) or 0)
if mode ~= 'drain' and answer == 1 and now > 0 then
  redis.call(ARGV[1], ARGV[2], now)
end
return remember(KEYS[2], answer, ARGV[3])
