-- Makes the leases of many holds last longer, or sets the lease of a hold that is extended: a lock with several holds then ends
-- with the longest of them.
-- Safe to arrive twice and late: a renewal never makes a lease shorter, and what is older than the last extension that was
-- seen changes nothing. The number of that one stands at the end of what the hold says about its holder. A renewal stands for the
-- extensions before it, which may have been refused: a copy of one of them may still arrive.
-- KEYS lock and key of the hold, for each; the lock twice where the hold has none; of permits the sorted set with their
--      deadlines, and a key for the number of the last extension
-- ARGV field of the holder, lease (ms; 0: only asks), kind of hold, number of the last extension,
--      1: it is that extension, which sets the lease; for each. Kinds: 'alone', 'write', 'read' or 'permits'
-- -> 1 for each that is still held, 0 for each that is not
-- include clock
-- include raise
-- include permits
-- include held
-- include longest-hold
-- include readers
local function lastOf(about)
  return tonumber(string.match(about, ',"extended":(%d+)}$') or 0)
end

local function withNumber(about, number)
  return string.gsub(about, ',"extended":%d+}$', '}'):sub(1, -2) .. ',"extended":' .. number .. '}'
end

-- It came late, or twice: the hold was extended since.
local function isStale(last, number, sets)
  return number < last or sets and number == last
end

-- A write that changes nothing. A server that was demoted refuses it, and so confirms no hold from its copy, even where the lease
-- need not be raised. A server without memory refuses only the first write of a script, and not this one: an extension may be
-- refused; a renewal must not be, for those of other locks are in the same script.
local function writeNothing(remove, key, sets)
  if not sets then
    redis.call(remove, key, '')
  end
end

local function renewPermits(timeouts, latest, holder, lease, number, sets)
  if arePermitsHeld(timeouts, holder) == 0 then
    return 0
  end
  writeNothing('zrem', timeouts, sets)
  local last = tonumber(redis.call('get', latest) or 0)
  if lease == 0 or isStale(last, number, sets) then
    return 1
  end
  if number > last then
    redis.call('set', latest, number, 'px', 960000)
  end
  if sets then
    setDeadlines(timeouts, holder, now + lease, 'xx')
  else
    setDeadlines(timeouts, holder, now + lease, 'xx', 'gt')
  end
  return 1
end

local function renewAlone(lock, lease, number, sets)
  local about = redis.call('hget', lock, 'nestjs-interlock') or '{"since":0}'
  local last = lastOf(about)
  if isStale(last, number, sets) then
    return
  end
  if number > last then
    redis.call('hset', lock, 'nestjs-interlock', withNumber(about, number))
  end
  if sets then
    redis.call('pexpire', lock, lease)
  else
    raise(lock, lease)
  end
end

-- What the keys of all holds of the lock begin with.
local function keysOf(hold, holder)
  return string.sub(hold, 1, -#(':' .. holder .. ':rwlock_timeout:1') - 1)
end

local function longestOfAll(lock, keys)
  local longest = 0
  local fields = redis.call('hgetall', lock)
  for i = 1, #fields, 2 do
    longest = math.max(longest, longestHold(lock, keys, fields[i], tonumber(fields[i + 1]) or 0))
  end
  return longest
end

-- The hold that was shortened may have been the longest one.
local function endWithLongest(lock, keys, readers)
  local last = readers and redis.call('zrevrange', readers, 0, 0)[1]
  local left = last and longestHold(lock, keys, last, 1) or 0
  redis.call('pexpire', lock, left > 0 and left or longestOfAll(lock, keys))
  if readers then
    endTogether(lock, readers)
  end
end

-- Returns whether it has set a lease.
local function renewHold(lock, hold, lease, number, sets)
  local about = redis.call('get', hold)
  local last = lastOf(about)
  if isStale(last, number, sets) then
    return false
  end
  if number > last then
    redis.call('set', hold, withNumber(about, number), 'keepttl')
  end
  if sets then
    redis.call('pexpire', hold, lease)
  else
    raise(hold, lease)
  end
  raise(lock, lease) -- it lives as long as any of its holds
  return sets
end

local function renewLock(lock, hold, field, lease, kind, number, sets)
  local held = isHeld(lock, hold, field, kind)
  if held == 0 then
    return held
  end
  writeNothing('hdel', lock, sets)
  if lease == 0 then
    return held
  end
  if kind == 'alone' then
    renewAlone(lock, lease, number, sets)
    return held
  end
  local keys = keysOf(hold, field)
  local readers = kind == 'read' and 'interlock_readers:' .. keys -- in the slot of those that the renewal gets
  local isComplete = readers and hasAllReaders(lock, readers)
  local isSet = renewHold(lock, hold, lease, number, sets)
  if isComplete then
    noteReader(lock, readers, field, hold)
  end
  if isSet then
    endWithLongest(lock, keys, isComplete and readers)
  end
  return held
end

local alive = {}
for i = 1, #KEYS, 2 do
  local at = (i - 1) / 2 * 5
  local field, lease, kind = ARGV[at + 1], tonumber(ARGV[at + 2]), ARGV[at + 3]
  local number, sets = tonumber(ARGV[at + 4]), ARGV[at + 5] == '1'
  if kind == 'permits' then
    alive[(i + 1) / 2] = renewPermits(KEYS[i], KEYS[i + 1], field, lease, number, sets)
  else
    alive[(i + 1) / 2] = renewLock(KEYS[i], KEYS[i + 1], field, lease, kind, number, sets)
  end
end
return alive
