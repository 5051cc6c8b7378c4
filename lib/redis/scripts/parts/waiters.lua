-- Who waits for a plain lock, of this library: one of its processes listens to Redisson's channel, and the others are registered
-- to be woken one by one, each on a channel of its own. Both stand in one sorted set: the listener with the time until which it
-- counts as living as a negative number, the others with the time at which their wait began.
-- A release wakes the listener, with all of Redisson's, and the first registered one that is subscribed: `publish` counts its
-- receivers. Who was woken is no longer registered, and registers again when it asks in vain: so a dead one is woken once.
-- Invariant: who asks in vain becomes the listener unless there is a living one. What cannot be read or written, in a slot under
-- migration or on a server without memory, is no reason to fail (`pcall`): to listen to Redisson's channel is always right.

-- Returns 1 if the waiter is registered, 0 if it has to listen to Redisson's channel.
local function register(waiters, waiter, waited, longest)
  local time = redis.call('time')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local life = math.ceil(longest * 1.5)
  local listener, until_ = unpack(redis.pcall('zrange', waiters, 0, 0, 'withscores'))
  local registered = 0
  if listener and listener ~= waiter and tonumber(until_) < 0 then
    if -until_ > now then
      registered = 1
    else
      redis.pcall('zrem', waiters, listener)
    end
  end
  local score = registered == 1 and now - waited or -(now + life)
  if type(redis.pcall('zadd', waiters, score, waiter)) == 'table' then
    return 0
  end
  if redis.call('pttl', waiters) < life then
    redis.call('pexpire', waiters, life)
  end
  return registered
end

-- Returns how many heard of it: 1, or 0 if none is registered.
local function wakeFirst(waiters, publish, channel)
  while true do
    local first = redis.pcall('zrangebyscore', waiters, 0, '+inf', 'limit', 0, 1)[1]
    if not first or type(redis.pcall('zrem', waiters, first)) == 'table' then
      return 0
    end
    local heard = redis.call(publish, channel .. ':' .. first, '0')
    if heard > 0 then
      return heard
    end
  end
end

-- Returns how many heard of it.
local function wakeWaiters(waiters, publish, channel)
  local heard = redis.call(publish, channel, '0')
  if waiters == '' then
    return heard
  end
  local woken = wakeFirst(waiters, publish, channel)
  if heard == 0 and woken > 0 then
    redis.call('zremrangebyscore', waiters, '-inf', '(0') -- the listener has died
  end
  return heard + woken
end
