// Made of lock-acquire.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const lockAcquire = new Script('lock-acquire', `-- Takes locks, all or none, or returns how long the holder of one of them may keep it. Layout of Redisson's RLock and
-- RFencedLock.
-- Safe to arrive twice and late: what the holder has already is only made to last longer, and for a holder that has gone
-- nothing is taken.
-- KEYS lock..., [token: of one lock]
-- ARGV lease (ms), holder, about, how many locks, the tombstone of the holder at each lock
-- -> {1, token or 0} or {0, ms, which of them is taken}
-- A copy of an acquire may arrive after its holder has given the lock back or stopped waiting for it. A release leaves a
-- tombstone where that may be, and an acquire takes nothing for a holder that has one. Called by \`pcall\`: what cannot be read
-- or written in a slot under migration must not keep a lock from being taken or given back. A server without memory refuses it
-- only to the first write of a script: that one is a \`del\`.
local function isGone(tombstone)
  return redis.pcall('exists', tombstone) == 1
end

local function bury(tombstone)
  if tombstone ~= '' then
    redis.pcall('del', tombstone)
    redis.pcall('set', tombstone, 1, 'px', 960000)
  end
end
-- A copy of an acquire or of a renewal may arrive after the lease was extended: they only make a lease longer. -1: without end.
local function raise(key, lease)
  local left = redis.call('pttl', key)
  if left >= 0 and left < tonumber(lease) then
    redis.call('pexpire', key, lease)
  end
end
local lease, holder, count = ARGV[1], ARGV[2], tonumber(ARGV[4])
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
      return { 0, left, i - 1 }
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
return { 1, grant }
`);
