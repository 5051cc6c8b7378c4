-- Lets the server forget a semaphore of which no permit is held, unless one is acquired within that many ms: a new one has as
-- many free. A permit of a crashed holder counts as held until the next acquire.
-- Invariants: while a permit that this library has acquired is held, there is no such time to live: each acquire that gets one
-- ends it, also that of a client that sets none. A time to live that others gave the semaphore is not ended by those. Only this
-- one is also that of the number of wanted permits, which never ends before the semaphore, and keeps it when it changes.
local function forgetUnlessUsed(free, timeouts, wanted, timeToLive)
  if timeToLive == '' or redis.call('zcard', timeouts) > 0 or redis.call('exists', wanted) == 0 then
    return
  end
  redis.call('pexpire', free, timeToLive)
  redis.call('pexpire', wanted, timeToLive)
end

local function isToBeForgotten(wanted)
  return redis.call('pttl', wanted) >= 0
end

-- Redisson gives the permits that it acquires what the semaphore has left.
local function endTimeToLive(free, timeouts, wanted)
  redis.call('persist', free)
  redis.call('persist', timeouts)
  redis.call('persist', wanted)
end
