// Made of fair-lock-release.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const fairLockRelease = new Script('fair-lock-release', `-- Gives the lock back, or the place in its queue, and wakes the first who waits.
-- KEYS lock, queue, timeouts, alive  ARGV holder, PUBLISH or SPUBLISH, channel, wait (ms), tombstone or ''
-- -> how many were woken; -1: it neither held nor waited
local lock, queue, timeouts, alive = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local holder, publish, channel, wait = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- A copy of an acquire may arrive after its holder has given the lock back or stopped waiting for it. A release leaves a
-- tombstone where that may be, and an acquire takes nothing for a holder that has one. Called by \`pcall\`: what cannot be read
-- or written in a slot under migration must not keep a lock from being taken or given back. A server without memory refuses it
-- only to the first write of a script: that one is a \`del\`.
local function isGone(tombstone)
  return redis.pcall('exists', tombstone) == 1
end

local function bury(tombstone)
  if tombstone ~= '' then
    redis.pcall('del', tombstone)
    redis.pcall('set', tombstone, 1, 'px', 960000)
  end
end
-- The queue of a fair lock: a list of waiters, their deadlines, and until when each waiter of ours is known to live. Each
-- deadline contains one wait for each waiter ahead of it: a waiter that leaves takes its wait out of the deadlines behind it.
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

-- Returns its place before that, or false.
local function leave(waiter)
  local place = redis.call('lpos', queue, waiter)
  if place then
    redis.call('lrem', queue, 1, waiter) -- first: a server without memory refuses what shifts, unless something was written
    for _, behind in ipairs(redis.call('lrange', queue, place, -1)) do
      shift(behind, 1)
    end
  end
  forget({ waiter })
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
  if first == 1 then
    redis.call('del', queue)
  elseif first then
    redis.call('ltrim', queue, 0, first - 2)
  end
  inChunks('rpush', queue, behind)
  for i, waiter in ipairs(behind) do
    shift(waiter, waits[i])
  end
  for waiter in pairs(dead) do -- which Redisson has dropped from the queue
    if #removed < DEAD_AT_ONCE then
      removed[#removed + 1] = waiter
    end
  end
  forget(removed)
  return more
end

-- Drops from the front those that nothing is known of but their deadline, once it is over, as Redisson does; returns whether
-- more of them may follow.
local function dropOverdue()
  for _ = 1, DEAD_AT_ONCE do
    local head = redis.call('lindex', queue, 0)
    if not head or head == holder or redis.call('zscore', alive, head) then
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
  return redis.call('lindex', queue, 0), more
end

local function wake(waiter)
  return redis.call(publish, channel .. ':' .. waiter, '0')
end

local gone = -1
if redis.call('hexists', lock, holder) == 1 then
  redis.call('del', lock)
  gone = 0
end
if leave(holder) then
  gone = 0
end
bury(ARGV[5])
if redis.call('exists', lock) == 1 then
  return gone
end
local head, more = firstInLine()
if not head then
  return gone
end
local woken = wake(head)
if more then -- the first may be dead: one that lives is to go on with the removal
  local living = redis.call('zrangebyscore', alive, '(' .. now, '+inf', 'limit', 0, 1)[1]
  if living and living ~= head then
    woken = woken + wake(living)
  end
end
return woken
`);
