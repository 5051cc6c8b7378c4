-- The holds of the readers of this library with their deadlines (ms): so the longest hold is found without a look at each.
-- Redisson and older versions of this library do not know the set. It is used only while it has all holders: then there are as
-- many in it as in the lock, and it ends with the lock, in the same ms, to which others give other times. Once it lacks one it
-- is deleted, and stays so until the lock is free: then each hold is looked at.

-- Time may pass between two commands, up to 7.0 of Redis: what ends with the lock has at most as much left as the lock had
-- before, and at least as much as it has after.
local function endsWithLock(lock, readers)
  local before, left = redis.call('pttl', lock), redis.call('pttl', readers)
  return before >= left and left >= redis.call('pttl', lock)
end

-- To be called when the lock has got its time. It never ends earlier than it would have: what it has left is looked at first.
local function endTogether(lock, readers)
  local left, time = redis.call('pttl', lock), redis.call('time')
  local deadline = time[1] * 1000 + math.floor(time[2] / 1000) + left
  redis.call('pexpireat', lock, deadline)
  redis.call('pexpireat', readers, deadline)
end

local function hasAllReaders(lock, readers)
  local isComplete = redis.call('hget', lock, 'mode') == 'read'
    and redis.call('hlen', lock) - 1 == redis.call('zcard', readers)
    and endsWithLock(lock, readers)
  if not isComplete then
    redis.call('del', readers)
  end
  return isComplete
end

-- To be called when the hold and the lock have got their times.
local function noteReader(lock, readers, holder, hold)
  redis.call('zadd', readers, now + redis.call('pttl', hold), holder)
  if not endsWithLock(lock, readers) then
    endTogether(lock, readers)
  end
end
