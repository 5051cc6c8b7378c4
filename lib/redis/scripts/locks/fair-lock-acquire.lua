-- Takes the lock in the order of the queue, and queues where others are ahead. Layout and arithmetic of Redisson's
-- RFairLock: a list of holders, and the deadline of each (ms, wall clock) in a sorted set. Another sorted set, of this library,
-- has the time until which each of its waiters is taken to live without a sign of life.
-- Idempotent: sent again it only makes the lease longer, or keeps the place in the queue and moves its deadlines on.
-- KEYS lock, queue, timeouts, alive, [token]
-- ARGV lease (ms), holder, about, wait (ms), life of a waiter (ms), 1: queue, PUBLISH or SPUBLISH, channel, tombstone
-- -> {1, token} or {0, ms until there is a reason to look again, 0, 0, field and text of the holder}
local lock, queue, timeouts, alive = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local lease, holder, wait, life = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[4]), tonumber(ARGV[5])
local publish, channel = ARGV[7], ARGV[8]
-- include clock
-- include raise
-- include gone
-- include holder
-- include fair-queue

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
  -- A new holder subtracts its own wait from the deadlines of all: so one wait for each waiter that is ahead. A waiter of
  -- Redisson may have a longer one than ours: its deadline, and those behind it, contain that.
  local last
  if head == holder then
    ahead = 0
  elseif not ahead then
    last = redis.call('lindex', queue, -1)
    ahead = redis.call('rpush', queue, holder) - 1
    head = head or holder
  end
  local deadline = now + math.max(ttl, 0) + (ahead + 1) * wait
  local before = last and redis.call('zscore', timeouts, last)
  if before then
    deadline = math.max(deadline, tonumber(before) + wait)
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
  return { 0, ttl, 0, 0, holderOf(lock) }
end
-- It is free for the first in the queue: until that one must have come, or is known to be dead.
wake(head)
local due = redis.call('zscore', alive, head) or redis.call('zscore', timeouts, head)
return { 0, math.max(1, tonumber(due) - now) }
