-- The waiters of this library for a lock or for permits: one of its processes listens to Redisson's channel, and the others are
-- registered to be woken one by one, each on a channel of its own. Both stand in one sorted set: the listener with the time until
-- which it counts as living as a negative number, the others with the time at which their wait began.
-- A release wakes the listener, with all of Redisson's, and the first registered ones that are subscribed: `publish` counts its
-- receivers. One that was woken is no longer registered, and registers again when it asks in vain: so a dead one is woken once.
-- Invariants: a waiter that asks in vain becomes the listener unless there is a living one. A listener that leaves, other than by
-- taking the whole lock, wakes one that is registered, and so does a woken one that leaves a free lock. What cannot be read or
-- written, in a slot under migration or on a server without memory, is no reason to fail (`pcall`): to listen to Redisson's
-- channel is always right.

-- Returns 1 if the waiter is registered, 0 if it has to listen to Redisson's channel; and for how many of the `left` ms it may
-- sleep. A registered waiter looks three times as often as the listener: so no two that were woken and are frozen keep the
-- others waiting for longer than a third of the longest sleep.
local function register(waiters, waiter, waited, longest, left)
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
    return 0, left
  end
  if redis.call('pttl', waiters) < life then
    redis.call('pexpire', waiters, life)
  end
  if registered == 0 then
    return 0, left
  end
  local look = math.ceil(longest / 3)
  return 1, left < 0 and look or math.min(left, look)
end

-- Wakes registered ones in their order, as many as there is something `free` for; each needs 1 of it unless `needs` says how
-- much. Returns how many heard of it.
local function wakeRegistered(waiters, publish, channel, free, needs)
  local heard, passed = 0, 0
  while waiters ~= '' and free > 0 do
    local waiter = redis.pcall('zrangebyscore', waiters, 0, '+inf', 'limit', passed, 1)[1]
    local needed = waiter and needs and needs(waiter) or 1
    if not waiter then
      break
    elseif needed > free then
      passed = passed + 1
    elseif type(redis.pcall('zrem', waiters, waiter)) == 'table' then
      break
    else
      local listening = redis.call(publish, channel .. ':' .. waiter, '0')
      if listening > 0 then
        heard = heard + listening
        free = free - needed
      end
    end
  end
  return heard
end

-- Wakes the first registered one, when `heard` have heard of it on Redisson's channel. Returns how many have heard of it then.
local function wakeNext(waiters, publish, channel, heard)
  local woken = wakeRegistered(waiters, publish, channel, 1)
  if heard == 0 and woken > 0 then
    redis.pcall('zremrangebyscore', waiters, '-inf', '(0') -- the listener has died
  end
  return heard + woken
end

-- Takes the waiter out. Returns whether it listened: then another one has to be woken, to listen in its place.
local function stopWaiting(waiters, waiter)
  if waiters == '' then
    return false
  end
  local place = tonumber(redis.pcall('zscore', waiters, waiter)) or 0
  redis.pcall('zrem', waiters, waiter)
  return place < 0
end

-- Ends a wait for a lock in vain: another one listens in the place of this waiter, or takes what it was woken to take.
local function leaveWaiters(waiters, waiter, lock, publish, channel)
  if stopWaiting(waiters, waiter) or redis.call('exists', lock) == 0 then
    wakeRegistered(waiters, publish, channel, 1)
  end
end
