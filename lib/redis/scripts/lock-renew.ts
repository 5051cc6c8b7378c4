// Made of lock-renew.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const lockRenew = new Script('lock-renew', `-- Makes the leases of many holds last longer, or sets the lease of a hold that was extended.
-- Safe to arrive twice and late: a renewal never makes a lease shorter, and an extension older than the last one that was
-- seen changes nothing. The number of that one stands at the end of what the hold says about its holder.
-- KEYS lock and key of the hold, for each; the lock twice where the hold has none; of permits the sorted set with their
--      deadlines, and a key for the number of the last extension
-- ARGV field of the holder, lease (ms; 0: only asks), kind of hold, number of the extension (0: a renewal), for each
--      kinds: 'alone', 'write', 'read' or 'permits'
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
local function extended(about, number)
  local last = tonumber(string.match(about, ',"extended":(%d+)}$') or 0)
  if number <= last then
    return nil
  end
  return string.gsub(about, ',"extended":%d+}$', '}'):sub(1, -2) .. ',"extended":' .. number .. '}'
end

local function renewPermits(timeouts, latest, holder, lease, number)
  local prefix, count = string.sub(holder, 1, 12), struct.unpack('>I4', holder, 13)
  for i = 0, count - 1 do
    local deadline = redis.pcall('zscore', timeouts, prefix .. struct.pack('>I4', i))
    if type(deadline) ~= 'string' or tonumber(deadline) <= now then
      return 0
    end
  end
  if lease == 0 or number > 0 and number <= tonumber(redis.call('get', latest) or 0) then
    return 1
  end
  if number > 0 then
    redis.call('set', latest, number, 'px', 960000)
  end
  for i = 0, count - 1 do
    local id = prefix .. struct.pack('>I4', i)
    if number > 0 then
      redis.call('zadd', timeouts, 'xx', now + lease, id)
    else
      redis.call('zadd', timeouts, 'xx', 'gt', now + lease, id)
    end
  end
  return 1
end

local function extendAlone(lock, lease, number)
  local about = extended(redis.call('hget', lock, 'nestjs-interlock') or '{}', number)
  if about then
    redis.call('hset', lock, 'nestjs-interlock', about)
    redis.call('pexpire', lock, lease)
  end
end

local function extendHold(lock, hold, lease, number)
  local about = extended(redis.call('get', hold), number)
  if about then
    redis.call('set', hold, about, 'px', lease)
    raise(lock, lease) -- it lives as long as any of its holds
  end
end

local function renewLock(lock, hold, field, lease, kind, number)
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
  if number == 0 then
    raise(hold, lease)
    raise(lock, lease)
  elseif kind == 'alone' then
    extendAlone(lock, lease, number)
  else
    extendHold(lock, hold, lease, number)
  end
  return held
end

local alive = {}
for i = 1, #KEYS, 2 do
  local at = (i - 1) * 2
  local field, lease, kind, number = ARGV[at + 1], tonumber(ARGV[at + 2]), ARGV[at + 3], tonumber(ARGV[at + 4])
  if kind == 'permits' then
    alive[(i + 1) / 2] = renewPermits(KEYS[i], KEYS[i + 1], field, lease, number)
  else
    alive[(i + 1) / 2] = renewLock(KEYS[i], KEYS[i + 1], field, lease, kind, number)
  end
end
return alive
`);
