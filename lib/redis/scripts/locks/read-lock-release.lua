-- Ends one hold of a reader; the last one wakes the waiters. The hash lives as long as the longest hold that is left; expired
-- holds are removed from it.
-- KEYS lock, hold
-- ARGV holder, PUBLISH or SPUBLISH, what the keys of all holds begin with, channel, tombstone to leave or ''
-- -> how many listen; -1: it was not held
-- include gone
-- include longest-hold
local lock = KEYS[1]
bury(ARGV[5])
local told = redis.call('pttl', lock)
redis.call('del', KEYS[2])
if redis.call('hdel', lock, ARGV[1]) == 0 then
  return -1
end
local isWritten = redis.call('hget', lock, 'mode') == 'write' -- by the same caller; it ends only with that
local longest = 0
local fields = redis.call('hgetall', lock)
for i = 1, #fields, 2 do
  local count = tonumber(fields[i + 1])
  local left = longestHold(lock, ARGV[3], fields[i], count or 0)
  if count and left == 0 and not isWritten then
    redis.call('hdel', lock, fields[i])
  end
  longest = math.max(longest, left)
end
if longest > 0 then
  redis.call('pexpire', lock, longest)
elseif not isWritten then
  redis.call('del', lock)
end
local left = redis.call('pttl', lock)
if left ~= -2 and left > told - 1000 then
  return 0 -- else who waits would sleep over the end of it, for as long as it was told
end
return redis.call(ARGV[2], ARGV[4], '0')
