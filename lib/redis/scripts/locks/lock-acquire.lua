-- Takes locks, all or none, or returns how long the holder of one of them may keep it. Layout of Redisson's RLock and
-- RFencedLock. A holder that waits for one lock stands among its waiters until it has it, or is released.
-- Safe to arrive twice and late: what the holder has already is only made to last longer, and for a holder that has gone
-- nothing is taken.
-- KEYS lock..., [token: of one lock]
-- ARGV lease (ms), holder, about, how many locks, the tombstone of the holder at each lock;
--      if it waits as one of the waiters of one lock: their key, how long it has waited (ms), its longest sleep (ms)
-- -> {1, token or 0} or {0, ms, which of them is taken, 1: it is woken on a channel of its own, field and text of its holder}
-- include gone
-- include raise
-- include holder
-- include waiters
local lease, holder, count = ARGV[1], ARGV[2], tonumber(ARGV[4])
local waiters, waited, longest = ARGV[5 + count], ARGV[6 + count], ARGV[7 + count]

-- A registered waiter looks three times as often as the listener: so no two that were woken and are frozen keep the others
-- waiting for longer than a third of the longest sleep.
local function wait(left, i)
  if not waiters then
    return { 0, left, i - 1, 0, holderOf(KEYS[i]) }
  end
  if isGone(ARGV[5]) then
    return redis.error_reply('GONE the holder has given up')
  end
  if register(waiters, holder, waited, longest) == 0 then
    return { 0, left, i - 1, 0, holderOf(KEYS[i]) }
  end
  local look = math.ceil(longest / 3)
  return { 0, left < 0 and look or math.min(left, look), i - 1, 1, holderOf(KEYS[i]) }
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
if waiters then
  redis.pcall('zrem', waiters, holder)
end
return { 1, grant }
