-- Takes the lock for reading. Layout of Redisson's RReadWriteLock: a hash with the mode and the holders, and one key for
-- each hold of a reader, which lives as long as its lease.
-- Safe to arrive twice and late: a hold that is there is only made to last longer, and for a holder that has gone nothing
-- is taken.
-- KEYS lock, hold, writers, readers
-- ARGV lease (ms), holder, about, field of the writer it is inside of or '', 1: writers first, tombstone
-- -> {1, 0} or {0, ms, 0, 0, field and text of a holder}
-- include clock
-- include gone
-- include raise
-- include readers
-- include holder
local lock, hold, writers, readers = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local function holdOf(field)
  local start = #hold - #':rwlock_timeout:1' - #ARGV[2] -- of the field in a name like that of our own hold
  return string.sub(hold, 1, start) .. field .. ':rwlock_timeout:1'
end
local mode = redis.call('hget', lock, 'mode')
local ttl = redis.call('pttl', lock)
if not mode and ttl ~= -2 then
  return redis.error_reply('LOCKKIND a mutex')
end
if mode and redis.call('hexists', lock, ARGV[2]) == 1 and redis.call('exists', hold) == 1 then
  local isComplete = hasAllReaders(lock, readers)
  raise(hold, ARGV[1])
  raise(lock, ARGV[1])
  if isComplete then
    noteReader(lock, readers, ARGV[2], hold)
  end
  return { 1, 0 }
end
local inside = mode == 'write' and ARGV[4] ~= '' and redis.call('hexists', lock, ARGV[4]) == 1
if mode == 'write' and not inside then
  return { 0, ttl, 0, 0, holderOf(lock, holdOf) }
end
if ARGV[5] == '1' and not inside then
  local waiting = redis.call('zrangebyscore', writers, '(' .. now, '+inf', 'withscores', 'limit', 0, 1)
  if waiting[1] then
    return { 0, math.max(1, tonumber(waiting[2]) - now), 0, 0, holderOf(lock, holdOf) } -- it may be dead
  end
end
if isGone(ARGV[6]) then
  return redis.error_reply('GONE the holder has given up')
end
redis.call('set', hold, ARGV[3], 'px', ARGV[1]) -- first: a server without memory refuses only the first write of a script
local isComplete = true
if not mode then
  redis.call('del', readers)
  redis.call('hset', lock, 'mode', 'read', ARGV[2], 1)
else
  isComplete = hasAllReaders(lock, readers)
  redis.call('hset', lock, ARGV[2], 1)
end
if ttl < tonumber(ARGV[1]) then
  redis.call('pexpire', lock, ARGV[1])
end
if isComplete then
  noteReader(lock, readers, ARGV[2], hold)
end
return { 1, 0 }
