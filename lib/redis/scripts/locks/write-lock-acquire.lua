-- Takes the lock for writing. Layout of Redisson's RReadWriteLock, and a key that says about the writer.
-- Safe to arrive twice and late: a hold that is there is only made to last longer, and for a holder that has gone nothing
-- is taken.
-- KEYS lock, hold, writers
-- ARGV lease (ms), holder, about, life of a waiter (ms), 1: keep readers out while it waits, tombstone;
--      if it waits as one of the waiters: how long it has waited (ms), its longest sleep (ms), their key
-- -> {1, 0} or {0, ms, 0, 1: it is woken on a channel of its own, field and text of a holder}
-- include clock
-- include gone
-- include raise
-- include holder
-- include waiters
local lock, hold, writers = KEYS[1], KEYS[2], KEYS[3]
local function holdOf(field)
  local start = #hold - #':rwlock_timeout:1' - #ARGV[2] -- of the field in a name like that of our own hold
  return string.sub(hold, 1, start) .. field .. ':rwlock_timeout:1'
end
local lease, life, goesFirst, waiters = ARGV[1], tonumber(ARGV[4]), ARGV[5] == '1', ARGV[9]
local ttl = redis.call('pttl', lock)
local found = redis.call('hmget', lock, 'mode', ARGV[2])
if ttl ~= -2 and not found[1] then
  return redis.error_reply('LOCKKIND a mutex')
end
if found[2] and redis.call('exists', hold) == 1 then
  raise(hold, lease)
  raise(lock, lease)
  return { 1, 0 }
end
if isGone(ARGV[6]) then
  return redis.error_reply('GONE the holder has given up')
end
if ttl ~= -2 and not found[2] then
  if goesFirst then
    redis.call('zadd', writers, 'gt', now + life, ARGV[2])
    redis.call('pexpire', writers, math.max(life, redis.call('pttl', writers)))
  end
  local registered = 0
  if waiters then
    registered, ttl = register(waiters, ARGV[2], ARGV[7], ARGV[8], ttl)
  end
  return { 0, ttl, 0, registered, holderOf(lock, holdOf) }
end
if ttl == -2 then
  redis.call('hset', lock, 'mode', 'write', ARGV[2], 1)
end
if goesFirst then
  redis.call('zrem', writers, ARGV[2])
end
redis.call('set', hold, ARGV[3], 'px', lease)
redis.call('pexpire', lock, math.max(ttl, tonumber(lease)))
if waiters then -- last: a script that has removed something is no longer refused for lack of memory
  redis.pcall('zrem', waiters, ARGV[2])
end
return { 1, 0 }
