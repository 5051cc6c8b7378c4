-- Changes the number of permits that nobody owns, and wakes who waits.
-- Modes: 'release' and 'add' so many, 'release-if-exists', 'try' where there is none yet, 'drain' to 0.
-- Idempotent: a request that is sent again is answered as it was.
-- KEYS permits, channel, request  ARGV PUBLISH or SPUBLISH, mode, how many, life of the answer (ms), [life (ms)]
-- -> 1: done, 0: not done; how many there were when they are drained
local permits, mode = KEYS[1], ARGV[2]
local answered = redis.call('get', KEYS[3])
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
  redis.call('set', permits, ARGV[3])
  if ARGV[5] then
    redis.call('pexpire', permits, ARGV[5])
  end
else
  redis.call('incrby', permits, ARGV[3])
end
local now = tonumber(redis.call('get', permits) or 0)
if mode ~= 'drain' and answer == 1 and now > 0 then
  redis.call(ARGV[1], KEYS[2], now)
end
redis.call('set', KEYS[3], answer, 'px', ARGV[4])
return answer
