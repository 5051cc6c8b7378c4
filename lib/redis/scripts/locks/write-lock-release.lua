-- Ends the hold of the writer, or its wait, and wakes the readers and a writer; a writer that reads too stays as a reader.
-- KEYS lock, hold, writers, readers
-- ARGV holder, PUBLISH or SPUBLISH, what the keys of all holds begin with, channel, tombstone to leave or '',
--      key of the waiters or ''
-- -> how many listen; -1: it neither held nor waited
-- include clock
-- include gone
-- include longest-hold
-- include readers
-- include waiters
local lock, readers, waiters = KEYS[1], KEYS[4], ARGV[6]
bury(ARGV[5])

-- '1' wakes all threads of a Redisson that sleep, '0' one that is about to: that message waits for it.
local function wake()
  redis.call(ARGV[2], ARGV[4], '1')
  return redis.call(ARGV[2], ARGV[4], '0')
end

local waited = redis.call('zrem', KEYS[3], ARGV[1])
redis.call('del', KEYS[2])
if redis.call('hdel', lock, ARGV[1]) == 0 then
  leaveWaiters(waiters, ARGV[1], lock, ARGV[2], ARGV[4])
  return waited == 0 and -1 or wake() -- readers may have waited for this writer
end
local longest = 0
local fields = redis.call('hgetall', lock)
redis.call('del', readers)
for i = 1, #fields, 2 do
  local left = longestHold(lock, ARGV[3], fields[i], tonumber(fields[i + 1]) or 0)
  if left > 0 and fields[i + 1] == '1' then
    redis.call('zadd', readers, now + left, fields[i]) -- it could only be acquired inside of this hold, so by this library
  end
  longest = math.max(longest, left)
end
if longest > 0 then
  redis.call('hset', lock, 'mode', 'read')
  redis.call('pexpire', lock, longest)
  endTogether(lock, readers)
else
  redis.call('del', lock, readers)
end
return wakeNext(waiters, ARGV[2], ARGV[4], wake()) -- which listens, if it is a reader now
