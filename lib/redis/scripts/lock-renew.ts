// Made of lock-renew.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const lockRenew = new Script('lock-renew', `-- Sets the leases of many locks anew; a lease of 0 stays as it is.
-- KEYS lock and key of the hold, for each; the lock twice where the hold has none
-- ARGV field of the holder, lease (ms), kind of hold, for each: 'alone', 'write', 'read' or 'permits'
-- -> 1 for each that is still held, 0 for each that is not
local function renewPermits(timeouts, holder, lease)
  local time = redis.call('time')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  local prefix, count = string.sub(holder, 1, 12), struct.unpack('>I4', holder, 13)
  for i = 0, count - 1 do
    local deadline = redis.pcall('zscore', timeouts, prefix .. struct.pack('>I4', i))
    if type(deadline) ~= 'string' or tonumber(deadline) <= now then
      return 0
    end
  end
  for i = 0, lease > 0 and count - 1 or -1 do
    redis.call('zadd', timeouts, 'xx', now + lease, prefix .. struct.pack('>I4', i))
  end
  return 1
end

local function renewLock(lock, hold, field, lease, kind)
  local held = redis.pcall('hexists', lock, field)
  if type(held) == 'table' then
    return 0 -- another type: whatever it is, it is not the lock
  end
  if held == 1 and kind == 'read' then
    held = redis.call('exists', hold) -- others may keep the lock up after the end of this hold
  end
  if held == 1 and lease > 0 then
    if kind ~= 'alone' then
      redis.call('pexpire', hold, lease)
      lease = math.max(lease, redis.call('pttl', lock)) -- as long as any of its holds
    end
    redis.call('pexpire', lock, lease)
  end
  return held
end

local alive = {}
for i = 1, #KEYS, 2 do
  local at = (i - 1) / 2 * 3
  local field, lease, kind = ARGV[at + 1], tonumber(ARGV[at + 2]), ARGV[at + 3]
  if kind == 'permits' then
    alive[(i + 1) / 2] = renewPermits(KEYS[i + 1], field, lease)
  else
    alive[(i + 1) / 2] = renewLock(KEYS[i], KEYS[i + 1], field, lease, kind)
  end
end
return alive
`);
