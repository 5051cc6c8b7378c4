-- Takes locks, all or none, or returns how long the holder of one of them may keep it. Layout of Redisson's RLock and
-- RFencedLock. A holder that waits for one lock stands among its waiters until it has it, or is released.
-- Safe to arrive twice and late: what the holder has already is only made to last longer, and for a holder that has gone
-- nothing is taken.
-- KEYS lock..., [token: of one lock]
-- ARGV lease (ms), holder, about, how many locks, the tombstone of the holder at each lock;
--      if it waits as one of the waiters of the lock that is taken: how long it has waited (ms), its longest sleep (ms), the key
--      of the waiters of each lock; if it may stand among those of another lock: which one, PUBLISH or SPUBLISH, its channel
-- -> {1, token or 0} or {0, ms, which of them is taken, 1: it is woken on a channel of its own, field and text of its holder}
-- include gone
-- include raise
-- include holder
-- include waiters
local lease, holder, count = ARGV[1], ARGV[2], tonumber(ARGV[4])
local waited, longest = ARGV[5 + count], ARGV[6 + count]
local before, publish, channel = tonumber(ARGV[7 + 2 * count]), ARGV[8 + 2 * count], ARGV[9 + 2 * count]

local function waitersOf(i)
  return ARGV[6 + count + i]
end

local function wait(left, i)
  if not waited then
    return { 0, left, i - 1, 0, holderOf(KEYS[i]) }
  end
  if isGone(ARGV[4 + i]) then
    return redis.error_reply('GONE the holder has given up')
  end
  if before and before ~= i then
    leaveWaiters(waitersOf(before), holder, KEYS[before], publish, channel)
  end
  local registered, sleep = register(waitersOf(i), holder, waited, longest, left)
  return { 0, sleep, i - 1, registered, holderOf(KEYS[i]) }
end

local isFree = {}
for i = 1, count do
  local left = redis.call('pttl', KEYS[i])
  isFree[i] = left == -2
  if isFree[i] then
    if isGone(ARGV[4 + i]) then
      return redis.error_reply('GONE the holder has given up')
    end
  else
    local found = redis.call('hmget', KEYS[i], holder, 'mode')
    if found[2] then
      return redis.error_reply('LOCKKIND a read/write lock')
    end
    if not found[1] then
      return wait(left, i)
    end
  end
end
local token = KEYS[count + 1]
local grant = 0
if token then
  grant = isFree[1] and redis.call('incr', token) or tonumber(redis.call('get', token) or 0) -- first: it may fail
end
for i = 1, count do
  if isFree[i] then
    redis.call('hset', KEYS[i], holder, 1, 'nestjs-interlock', ARGV[3])
    redis.call('pexpire', KEYS[i], lease)
  else
    raise(KEYS[i], lease)
  end
end
if waited then
  redis.pcall('zrem', waitersOf(before or 1), holder)
end
return { 1, grant }
