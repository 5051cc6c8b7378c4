// Made of fair-lock-acquire.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const fairLockAcquire = new Script('fair-lock-acquire', `-- Takes the lock in the order of the queue, and queues where others are ahead. Layout and arithmetic of Redisson's
-- RFairLock: a list of holders, and the deadline of each (ms, wall clock) in a sorted set. A sorted set of our own tells
-- how long each of our waiters lives without being heard of.
-- Idempotent: sent again it sets the lease again, or keeps the place in the queue and moves its deadlines on.
-- KEYS lock, queue, timeouts, alive, [token]
-- ARGV lease (ms), holder, about, wait (ms), life of a waiter (ms), 1: queue
-- -> {1, token} or {0, ms until there is a reason to look again}
local lock, queue, timeouts, alive = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local holder, wait = ARGV[2], tonumber(ARGV[4])
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

for _, dead in ipairs(redis.call('zrangebyscore', alive, '-inf', now)) do
  redis.call('zrem', alive, dead)
  if dead ~= holder then
    redis.call('lrem', queue, 0, dead)
    redis.call('zrem', timeouts, dead)
  end
end
local head = redis.call('lindex', queue, 0)
while head and head ~= holder do
  local deadline = redis.call('zscore', timeouts, head)
  if not deadline or tonumber(deadline) > now then
    break
  end
  redis.call('lpop', queue)
  redis.call('zrem', timeouts, head)
  redis.call('zrem', alive, head)
  head = redis.call('lindex', queue, 0)
end

local found = redis.call('exists', lock)
if found == 1 then
  local fields = redis.call('hmget', lock, holder, 'mode')
  if fields[2] then
    return redis.error_reply('LOCKKIND a read/write lock')
  end
  if fields[1] then
    redis.call('pexpire', lock, ARGV[1])
    return { 1, KEYS[5] and tonumber(redis.call('get', KEYS[5]) or 0) or 0 }
  end
elseif not head or head == holder then
  if head then
    redis.call('lpop', queue)
    redis.call('zrem', timeouts, holder)
    redis.call('zrem', alive, holder)
  end
  for _, waiter in ipairs(redis.call('zrange', timeouts, 0, -1)) do
    redis.call('zincrby', timeouts, -wait, waiter)
  end
  redis.call('hset', lock, holder, 1, 'nestjs-interlock', ARGV[3])
  redis.call('pexpire', lock, ARGV[1])
  return { 1, KEYS[5] and redis.call('incr', KEYS[5]) or 0 }
end

local ttl = redis.call('pttl', lock)
if ARGV[6] == '1' then
  -- Whoever takes the lock subtracts its own wait from the deadlines of all: so one wait for each who is ahead.
  local ahead = redis.call('lpos', queue, holder)
  if not ahead then
    ahead = redis.call('rpush', queue, holder) - 1
    head = head or holder
  end
  local deadline = now + math.max(ttl, 0) + (ahead + 1) * wait
  local last = ahead > 0 and redis.call('zscore', timeouts, redis.call('lindex', queue, ahead - 1))
  if last then
    deadline = math.max(deadline, tonumber(last) + wait)
  end
  redis.call('zadd', timeouts, 'gt', deadline, holder)
  redis.call('zadd', alive, now + ARGV[5], holder)
  redis.call('pexpire', alive, deadline - now + ARGV[5]) -- it must outlive those whom it tells of
end
if found == 1 then
  return { 0, ttl }
end
-- It is free, and the first in the queue has been woken: until it must have come, or is known to be dead.
local due = tonumber(redis.call('zscore', timeouts, head) or now)
local known = redis.call('zscore', alive, head)
if known then
  due = math.min(due, tonumber(known))
end
return { 0, math.max(1, due - now) }
`);
