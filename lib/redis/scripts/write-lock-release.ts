// Made of write-lock-release.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const writeLockRelease = new Script('write-lock-release', `-- Ends the hold of the writer and wakes all who wait; where it reads too, it stays as a reader.
-- KEYS lock, hold, writers
-- ARGV holder, PUBLISH or SPUBLISH, what the keys of all holds begin with, channel, tombstone to leave or ''
-- -> how many listen; -1: it neither held nor waited
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
-- How many ms the longest hold of one holder has left. Each has a key of its own; where the number that says how many there are
-- is more than anybody has, it is not counted on, and what the lock has left is the answer.
local function longestHold(lock, keys, holder, count)
  if count > 1000 then
    return math.max(0, redis.call('pttl', lock))
  end
  local left = 0
  for n = 1, count do
    left = math.max(left, redis.call('pttl', keys .. ':' .. holder .. ':rwlock_timeout:' .. n))
  end
  return left
end
local lock = KEYS[1]
bury(ARGV[5])

-- '1' wakes all threads of a Redisson that sleep, '0' one that is about to: that message waits for it.
local function wake()
  redis.call(ARGV[2], ARGV[4], '1')
  return redis.call(ARGV[2], ARGV[4], '0')
end

local waited = redis.call('zrem', KEYS[3], ARGV[1])
redis.call('del', KEYS[2])
if redis.call('hdel', lock, ARGV[1]) == 0 then
  return waited == 0 and -1 or wake() -- readers may have waited for this writer
end
local longest = 0
local fields = redis.call('hgetall', lock)
for i = 1, #fields, 2 do
  longest = math.max(longest, longestHold(lock, ARGV[3], fields[i], tonumber(fields[i + 1]) or 0))
end
if longest > 0 then
  redis.call('hset', lock, 'mode', 'read')
  redis.call('pexpire', lock, longest)
else
  redis.call('del', lock)
end
return wake()
`);
