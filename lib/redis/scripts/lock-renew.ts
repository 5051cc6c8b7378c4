// Made of lock-renew.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const lockRenew = new Script('lock-renew', `-- Makes the leases of many holds last longer, or sets the lease of a hold that is extended.
-- Safe to arrive twice and late: a renewal never makes a lease shorter, and what is older than the last extension that was
-- seen changes nothing. The number of that one stands at the end of what the hold says about its holder.
-- KEYS lock and key of the hold, for each; the lock twice where the hold has none; of permits the sorted set with their
--      deadlines, and a key for the number of the last extension
-- ARGV field of the holder, lease (ms; 0: only asks), kind of hold, number of the last extension,
--      1: it is that extension, which sets the lease; for each. Kinds: 'alone', 'write', 'read' or 'permits'
-- -> 1 for each that is still held, 0 for each that is not
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- A copy of an acquire or of a renewal may arrive after the lease was extended: they only make a lease longer. -1: without end.
local function raise(key, lease)
  local left = redis.call('pttl', key)
  if left >= 0 and left < tonumber(lease) then
    redis.call('pexpire', key, lease)
  end
end
-- The permits of one holder: the ids are 12 bytes that they have in common and the number of the permit, from 0, in 4. Commands
-- get a thousand of them at a time: one for each would take long, and all of them are more than Lua's stack has room for.
local function eachThousand(holder, command)
  local prefix, count = string.sub(holder, 1, 12), struct.unpack('>I4', holder, 13)
  for from = 0, count - 1, 1000 do
    local ids = {}
    for i = from, math.min(from + 999, count - 1) do
      ids[#ids + 1] = prefix .. struct.pack('>I4', i)
    end
    command(ids)
  end
end

local function setDeadlines(timeouts, holder, deadline, ...)
  local options, score = { ... }, string.format('%.0f', deadline)
  eachThousand(holder, function(ids)
    local words = { unpack(options) }
    for _, id in ipairs(ids) do
      words[#words + 1] = score
      words[#words + 1] = id
    end
    redis.call('zadd', timeouts, unpack(words))
  end)
end
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

local function renewPermits(timeouts, latest, holder, lease, number, sets)
  local isHeld = true
  eachThousand(holder, function(ids)
    local deadlines = redis.pcall('zmscore', timeouts, unpack(ids))
    for i = 1, #ids do
      isHeld = isHeld and deadlines[i] and tonumber(deadlines[i]) > now
    end
  end)
  if not isHeld then
    return 0
  end
  if lease == 0 or isStale(tonumber(redis.call('get', latest) or 0), number, sets) then
    return 1
  end
  if sets then
    redis.call('set', latest, number, 'px', 960000)
    setDeadlines(timeouts, holder, now + lease, 'xx')
  else
    setDeadlines(timeouts, holder, now + lease, 'xx', 'gt')
  end
  return 1
end

local function renewAlone(lock, lease, number, sets)
  local about = redis.call('hget', lock, 'nestjs-interlock') or '{"since":0}'
  if isStale(lastOf(about), number, sets) then
    return
  end
  if not sets then
    return raise(lock, lease)
  end
  redis.call('hset', lock, 'nestjs-interlock', withNumber(about, number))
  redis.call('pexpire', lock, lease)
end

local function renewHold(lock, hold, lease, number, sets)
  local about = redis.call('get', hold)
  if isStale(lastOf(about), number, sets) then
    return
  end
  if sets then
    redis.call('set', hold, withNumber(about, number), 'px', lease)
  else
    raise(hold, lease)
  end
  raise(lock, lease) -- it lives as long as any of its holds
end

local function renewLock(lock, hold, field, lease, kind, number, sets)
  local held = redis.pcall('hexists', lock, field)
  if type(held) == 'table' then
    return 0 -- another type: whatever it is, it is not the lock
  end
  if held == 1 and kind ~= 'alone' then
    held = redis.call('exists', hold) -- others may keep the lock up after the end of this hold
  end
  if held == 0 or lease == 0 then
    return held
  end
  if kind == 'alone' then
    renewAlone(lock, lease, number, sets)
  else
    renewHold(lock, hold, lease, number, sets)
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
`);
