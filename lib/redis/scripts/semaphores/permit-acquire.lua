-- Acquires permits, all or none. Layout of Redisson's RPermitExpirableSemaphore: how many are free, and a sorted set of the ids
-- of all others with the time (ms) at which each expires. Keys of this library: the number of permits that its clients declared
-- last; for fair waiters a list in their order, and until when each of them is known to live.
-- Safe to arrive twice and late: permits that the holder has are only held longer, a place in the queue is kept, and for a
-- holder that has gone nothing is acquired.
-- KEYS free, timeouts, wanted, queue, alive
-- ARGV lease (ms), holder (12 bytes, and how many permits in 4), holder as text, wanted or '', PUBLISH or SPUBLISH,
--      1: it waits, 1: in the order of coming, life of a waiter (ms), channel, tombstone, 1: it has a
--      time to live while no permit is held, key of the waiters or '', how long it has waited (ms)
-- -> {1, 0} or {0, ms until there is a reason to look again; -1: when it is woken, 0, 1: it is woken on a channel of its own}
-- include gone
-- include permits
-- include time-to-live
-- include waiters
-- include wake
local free, timeouts, wanted, queue, alive = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local lease, waiter, publish = tonumber(ARGV[1]), ARGV[3], ARGV[5]
local waits, isFair, life, channel = ARGV[6] == '1', ARGV[7] == '1', tonumber(ARGV[8]), ARGV[9]
local waiters = ARGV[12]
local holder, count = ARGV[2], struct.unpack('>I4', ARGV[2], 13)
local DEAD_AT_ONCE = 1000
-- include clock

local function leave()
  redis.call('lrem', queue, 1, waiter)
  redis.call('zrem', alive, waiter)
end

local function wakeFair(first)
  redis.call(publish, channel .. ':' .. first, '1')
end

-- As long as the longest life of a waiter: others may live longer than this one.
local function keep(key)
  if redis.call('pttl', key) < life then
    redis.call('pexpire', key, life)
  end
end

local function isAlive(first)
  local known = redis.call('zscore', alive, first)
  if not known then -- what was known of it is lost: it has one life to be heard of again
    known = now + life
    redis.call('zadd', alive, known, first)
    keep(alive)
  end
  return tonumber(known) > now
end

-- Returns the first waiter, or false, and whether it may be a dead one: then another look is due at once. The dead are removed
-- where they keep others waiting, at the front, a bounded number of them.
local function firstInLine()
  for _ = 1, DEAD_AT_ONCE do
    local first = redis.call('lindex', queue, 0)
    if not first or first == waiter or isAlive(first) then
      return first, false
    end
    redis.call('lpop', queue)
    redis.call('zrem', alive, first)
  end
  return redis.call('lindex', queue, 0), true
end

local available = tonumber(redis.call('get', free) or 0)
if not available then
  return redis.error_reply('WRONGTYPE not a number')
end
local heldUntil = redis.call('zscore', timeouts, string.sub(holder, 1, 12) .. struct.pack('>I4', 0))
if heldUntil and tonumber(heldUntil) > now then
  setDeadlines(timeouts, holder, now + lease, 'xx', 'gt')
  return { 1, 0 }
end
if isGone(ARGV[10]) then
  return redis.error_reply('GONE the holder has given up')
end

local expired = redis.call('zremrangebyscore', timeouts, 0, now)
local more = 0
if ARGV[4] ~= '' then
  local before = redis.call('get', wanted)
  if redis.call('exists', free) == 0 or before and before ~= ARGV[4] then
    more = tonumber(ARGV[4]) - available - expired - redis.call('zcard', timeouts)
  end
  if before ~= ARGV[4] then
    redis.call('set', wanted, ARGV[4], 'keepttl')
  end
end
if expired + more ~= 0 then
  available = redis.call('incrby', free, expired + more)
  if available > 0 then
    redis.call(publish, channel, available)
  end
end

local first, mayBeDead
if isFair then
  first, mayBeDead = firstInLine()
end

if available >= count and (not first or first == waiter) then
  redis.call('decrby', free, count)
  if ARGV[11] == '1' or isToBeForgotten(wanted) then
    endTimeToLive(free, timeouts, wanted)
  end
  setDeadlines(timeouts, holder, now + lease, 'nx')
  local ttl = redis.call('pttl', free)
  if ttl > 0 then
    redis.call('pexpire', timeouts, ttl)
  end
  if isFair then
    leave()
    local second = redis.call('lindex', queue, 0)
    if second and available > count then
      wakeFair(second)
    end
  end
  if redis.pcall('exists', waiters) == 1 then
    if stopWaiting(waiters, waiter) then
      wakeRegistered(waiters, publish, channel, 1) -- others hold permits too, and Redisson may release theirs
    end
    wakeRegistered(waiters, publish, channel, available - count, wantedBy)
  end
  return { 1, 0 }
end
wakeRegistered(waiters, publish, channel, available, wantedBy)

local earliest = redis.call('zrange', timeouts, 0, 0, 'withscores')
local ms = -1
if earliest[2] and tonumber(earliest[2]) < 922337203685477 then
  ms = math.max(1, tonumber(earliest[2]) - now)
end
if not waits or not isFair and waiters == '' then
  return { 0, ms }
end
if not isFair then
  local registered, sleep = register(waiters, waiter, ARGV[13], life, ms)
  return { 0, sleep, 0, registered }
end
if not redis.call('lpos', queue, waiter) then
  redis.call('rpush', queue, waiter)
end
redis.call('zadd', alive, now + life, waiter)
keep(queue)
keep(alive)
if mayBeDead then
  return { 0, 1 }
end
if not first or first == waiter then
  return { 0, ms < 0 and 1000 or math.min(ms, 1000) } -- Redisson's releases do not wake it
end
if available > 0 then
  wakeFair(first)
end
local due = math.max(1, tonumber(redis.call('zscore', alive, first) or now) - now)
return { 0, ms < 0 and due or math.min(ms, due) }
