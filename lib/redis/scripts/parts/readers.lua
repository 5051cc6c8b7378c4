-- The holds of the readers of this library with their deadlines (ms): so the longest hold is found without a look at each.
-- Redisson and older versions of this library do not know the set. It is used only while it has all holders: then there are as
-- many in it as in the lock, and it lives as long as the lock, to which others give other times. Once it lacks one it is
-- deleted, and stays so until the lock is free: then each hold is looked at.
local function hasAllReaders(lock, readers)
  local isComplete = redis.call('hget', lock, 'mode') == 'read'
    and redis.call('hlen', lock) - 1 == redis.call('zcard', readers)
    and math.abs(redis.call('pttl', lock) - redis.call('pttl', readers)) <= 10 -- between two commands some time passes
  if not isComplete then
    redis.call('del', readers)
  end
  return isComplete
end

-- To be called when the hold and the lock have got their times.
local function noteReader(lock, readers, holder, hold)
  redis.call('zadd', readers, now + redis.call('pttl', hold), holder)
  redis.call('pexpire', readers, redis.call('pttl', lock))
end
