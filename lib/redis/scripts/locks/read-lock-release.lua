-- Ends one hold of a reader; the last one wakes a writer. The hash lives as long as the longest hold that is left; expired
-- holds are removed from it.
-- What was deleted is not asked for: in a slot that is moving that is an error.
-- KEYS lock, hold, readers
-- ARGV holder, PUBLISH or SPUBLISH, what the keys of all holds begin with, channel, tombstone to leave or '',
--      key of the waiters or ''
-- -> how many listen; -1: it was not held
-- include clock
-- include gone
-- include longest-hold
-- include readers
-- include waiters
local lock, readers = KEYS[1], KEYS[3]
bury(ARGV[5])
local told = redis.call('pttl', lock)
local isComplete = hasAllReaders(lock, readers)
redis.call('del', KEYS[2])
isComplete = isComplete and redis.call('zrem', readers, ARGV[1]) == 1
if redis.call('hdel', lock, ARGV[1]) == 0 then
  return -1
end

-- A hold that has expired, or has moved with a part of the slot, is no longer on this server: then the set says when it ends.
local function leftOf(reader)
  local left = redis.pcall('pttl', ARGV[3] .. ':' .. reader .. ':rwlock_timeout:1')
  if type(left) == 'table' then
    left = redis.call('zscore', readers, reader) - now
    return left > 0 and left or -2
  end
  return left
end

local function forget(reader)
  redis.call('hdel', lock, reader)
  redis.call('zrem', readers, reader)
end

-- Beside the mode: the set ends with the last reader.
local function areReadersLeft()
  return redis.call('hlen', lock) > 1
end

-- Expired holds are few: each is removed once, those between living ones a hundred at a time.
local function longestOfReaders()
  if not areReadersLeft() then
    return 0
  end
  for _, reader in ipairs(redis.call('zrangebyscore', readers, '-inf', now, 'limit', 0, 100)) do
    if leftOf(reader) == -2 then
      forget(reader)
    end
  end
  while areReadersLeft() do
    local last = redis.call('zrevrange', readers, 0, 0)[1]
    local left = last and leftOf(last) or 0
    if not last or left > 0 then
      return left
    end
    forget(last)
  end
  return 0
end

local isWritten = redis.call('hget', lock, 'mode') == 'write' -- by the same caller; it ends only with that

local function longestOfAll()
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
  return longest
end

local longest = isComplete and longestOfReaders() or longestOfAll()
local isFree = longest <= 0 and not isWritten
if isFree then
  redis.call('del', lock)
elseif longest > 0 then
  redis.call('pexpire', lock, longest)
  if isComplete then
    endTogether(lock, readers)
  end
end
local left = isFree and -2 or redis.call('pttl', lock)
if left ~= -2 and left > told - 1000 then
  return 0 -- else who waits would sleep over the end of it, for as long as it was told
end
local heard = redis.call(ARGV[2], ARGV[4], '0')
return left == -2 and wakeNext(ARGV[6], ARGV[2], ARGV[4], heard) or heard
