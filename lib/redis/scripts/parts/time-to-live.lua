-- Lets the server forget a semaphore of which no permit is held, unless one is acquired within that many ms: a new one has as
-- many free. A permit of a crashed holder counts as held until the next acquire.
-- Invariant: while a permit is held there is no time to live, as the acquire that gets one ends it.
local function forgetUnlessUsed(free, timeouts, wanted, timeToLive)
  if timeToLive == '' or redis.call('zcard', timeouts) > 0 then
    return
  end
  redis.call('pexpire', free, timeToLive)
  redis.call('pexpire', wanted, timeToLive)
end
