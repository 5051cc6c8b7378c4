-- The queue of a fair lock: a list of waiters, their deadlines, and until when each waiter of ours is known to live.
-- Redisson drops a waiter at the front whose deadline is over, and takes a wait out of all deadlines at each of its grants. A new
-- waiter of Redisson gets the deadline of the last one, and one wait more.
-- Invariants: no deadline is too early: it contains one wait for each waiter ahead, and one for the waiter itself. And none
-- counts for longer than that, of those that count: Redisson's, which are dropped by them, and the last one, from which new
-- ones are derived. Ours are dropped when they are known to be dead. So while all waiters are ours, one that leaves changes
-- the last deadline alone, however many wait; with one of Redisson among them it takes its wait out of all behind it.
-- Of the dead, one call removes DEAD_AT_ONCE at most, those nearest the end first: so no deadline of another dead waiter has
-- to be changed, and a call writes no more often than there are dead waiters removed and live ones behind them.
local DEAD_AT_ONCE = 1000
local CHUNK = 1000 -- arguments of one command: Lua's stack has its bound

local function inChunks(command, key, members)
  for from = 1, #members, CHUNK do
    redis.call(command, key, unpack(members, from, math.min(from + CHUNK - 1, #members)))
  end
end

local function shift(waiter, waits)
  redis.call('zadd', timeouts, 'xx', 'incr', -wait * waits, waiter)
end

local function forget(waiters)
  inChunks('zrem', timeouts, waiters)
  inChunks('zrem', alive, waiters)
end

-- The reply, or false where the key is not there: while its slot is moving, one that this script has emptied can neither be read nor
-- written to.
local function ask(...)
  local reply = redis.pcall(...)
  return type(reply) ~= 'table' and reply
end

-- The waiter at that place, or false.
local function at(place)
  return ask('lindex', queue, place)
end

local function areAllOurs()
  return redis.call('llen', queue) == ask('zcard', alive)
end

-- Sets the deadline of a waiter that has become the last: it may not have been changed for those that left ahead of it.
local function setLast()
  local last = at(-1)
  if last and areAllOurs() then
    local most = math.max(ask('pttl', lock) or 0, 0) + redis.call('llen', queue) * wait
    redis.call('zadd', timeouts, 'xx', now + most, last)
  end
end

-- Returns its place before that, or false.
local function leave(waiter)
  local place = redis.call('lpos', queue, waiter)
  if place then
    redis.call('lrem', queue, 1, waiter) -- first: a server without memory refuses what shifts, unless something was written
  end
  forget({ waiter })
  if not place or not at(0) then
    return place
  end
  local from = areAllOurs() and math.max(place, redis.call('llen', queue) - 1) or place
  local behind = redis.call('lrange', queue, from, -1)
  for _, other in ipairs(behind) do
    shift(other, 1)
  end
  if #behind == 0 then
    setLast()
  end
  return place
end

-- Removes waiters of ours that have died, wherever they stand; returns whether some are left.
local function removeDead()
  local dead, isAny = {}, false
  for _, waiter in ipairs(redis.call('zrangebyscore', alive, '-inf', now)) do
    if waiter ~= holder then
      dead[waiter], isAny = true, true
    end
  end
  if not isAny then
    return false
  end
  local line = redis.call('lrange', queue, 0, -1)
  local left = -DEAD_AT_ONCE
  for _, waiter in ipairs(line) do
    left = left + (dead[waiter] and 1 or 0)
  end
  local more = left > 0
  local removed, behind, waits, first = {}, {}, {}, nil
  for place, waiter in ipairs(line) do
    if dead[waiter] then
      dead[waiter] = nil
      left = left - 1
      if left < 0 then
        first = first or place
        removed[#removed + 1] = waiter
      end
    elseif first then
      behind[#behind + 1], waits[#waits + 1] = waiter, #removed
    end
  end
  if first then
    redis.call('ltrim', queue, 0, first - 1) -- the first of the dead stays until the living are back: see `ask`
    inChunks('rpush', queue, behind)
    redis.call('lrem', queue, 1, line[first])
  end
  for i, waiter in ipairs(behind) do
    shift(waiter, waits[i])
  end
  for waiter in pairs(dead) do -- which Redisson has dropped from the queue
    if #removed < DEAD_AT_ONCE then
      removed[#removed + 1] = waiter
    end
  end
  forget(removed)
  if #behind == 0 then
    setLast()
  end
  return more
end

-- Drops from the front those that nothing is known of but their deadline, once it is over, as Redisson does; returns whether
-- more of them may follow.
local function dropOverdue()
  for _ = 1, DEAD_AT_ONCE do
    local head = at(0)
    if not head or head == holder or ask('zscore', alive, head) then
      return false
    end
    local deadline = redis.call('zscore', timeouts, head)
    if deadline and tonumber(deadline) > now then
      return false
    end
    redis.call('lpop', queue)
    redis.call('zrem', timeouts, head)
  end
  return true
end

-- Returns the first waiter, or false, and whether dead waiters are left: then another look is due at once.
local function firstInLine()
  local more = removeDead()
  more = dropOverdue() or more
  return at(0), more
end

local function wake(waiter)
  return redis.call(publish, channel .. ':' .. waiter, '0')
end
