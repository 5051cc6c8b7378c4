// Made of fair-lock-acquire.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const fairLockAcquire = new Script('fair-lock-acquire', `-- Takes the lock in the order of the queue, and queues where others are ahead. Layout and arithmetic of Redisson's
-- RFairLock: a list of holders, and the deadline of each (ms, wall clock) in a sorted set. A sorted set of our own tells
-- how long each of our waiters lives without being heard of.
-- Idempotent: sent again it only makes the lease longer, or keeps the place in the queue and moves its deadlines on.
-- KEYS lock, queue, timeouts, alive, [token]
-- ARGV lease (ms), holder, about, wait (ms), life of a waiter (ms), 1: queue, PUBLISH or SPUBLISH, channel, tombstone
-- -> {1, token} or {0, ms until there is a reason to look again}
local lock, queue, timeouts, alive = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local lease, holder, wait, life = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5])
local publish, channel = ARGV[7], ARGV[8]
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- A copy of an acquire or of a renewal may arrive after the lease was extended: they only make a lease longer. -1: without end.
local function raise(key, lease)
  local left = redis.call('pttl', key)
  if left >= 0 and left < tonumber(lease) then
    redis.call('pexpire', key, lease)
  end
end
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

local head, more = firstInLine()
local found = redis.call('exists', lock)
if found == 1 then
  local fields = redis.call('hmget', lock, holder, 'mode')
  if fields[2] then
    return redis.error_reply('LOCKKIND a read/write lock')
  end
  if fields[1] then
    raise(lock, lease)
    return { 1, KEYS[5] and tonumber(redis.call('get', KEYS[5]) or 0) or 0 }
  end
end
local isNext = found == 0 and (not head or head == holder)
local ahead = head ~= holder and redis.call('lpos', queue, holder)
if head ~= holder and not ahead and (isNext or ARGV[6] == '1') and isGone(ARGV[9]) then
  return redis.error_reply('GONE the holder has given up')
end
if isNext then
  local token = KEYS[5] and redis.call('incr', KEYS[5]) or 0 -- first: it may fail
  leave(holder)
  redis.call('hset', lock, holder, 1, 'nestjs-interlock', ARGV[3])
  redis.call('pexpire', lock, lease)
  local second = redis.call('lindex', queue, 0)
  if second and lease < life / 3 then
    wake(second) -- it looks every third of its life, and would sleep over the end of this lease
  end
  return { 1, token }
end

local ttl = redis.call('pttl', lock)
if ARGV[6] == '1' then
  -- Whoever takes the lock subtracts its own wait from the deadlines of all: so one wait for each who is ahead.
  if head == holder then
    ahead = 0
  elseif not ahead then
    ahead = redis.call('rpush', queue, holder) - 1
    head = head or holder
  end
  local deadline = now + math.max(ttl, 0) + (ahead + 1) * wait
  local last = ahead > 0 and redis.call('zscore', timeouts, redis.call('lindex', queue, ahead - 1))
  if last then
    deadline = math.max(deadline, tonumber(last) + wait)
  end
  redis.call('zadd', timeouts, 'gt', deadline, holder)
  redis.call('zadd', alive, now + life, holder)
  local enough = deadline - now + life -- it must outlive those whom it tells of
  if redis.call('pttl', alive) < enough then
    redis.call('pexpire', alive, enough)
  end
end
if more then
  return { 0, 1 }
end
if found == 1 then
  return { 0, ttl }
end
-- It is free for the first in the queue: until that one must have come, or is known to be dead.
wake(head)
local due = redis.call('zscore', alive, head) or redis.call('zscore', timeouts, head)
return { 0, math.max(1, tonumber(due) - now) }
`);
