// Made of read-lock-release.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const readLockRelease = new Script('read-lock-release', `-- Ends one hold of a reader; the last one wakes who waits. The hash lives as long as the longest hold that is left; holds
-- whose lease is over are removed from it.
-- KEYS lock, hold
-- ARGV holder, PUBLISH or SPUBLISH, what the keys of all holds begin with, channel, tombstone to leave or ''
-- -> how many listen; -1: it was not held
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
local told = redis.call('pttl', lock)
redis.call('del', KEYS[2])
if redis.call('hdel', lock, ARGV[1]) == 0 then
  return -1
end
local isWritten = redis.call('hget', lock, 'mode') == 'write' -- by the same caller; it ends only with that
local longest = 0
local fields = redis.call('hgetall', lock)
for i = 1, #fields, 2 do
  local count = tonumber(fields[i + 1])
  local left = longestHold(lock, ARGV[3], fields[i], count or 0)
  if count and left == 0 and not isWritten then
    redis.call('hdel', lock, fields[i])
  end
  longest = math.max(longest, left)
end
if longest > 0 then
  redis.call('pexpire', lock, longest)
elseif not isWritten then
  redis.call('del', lock)
end
local left = redis.call('pttl', lock)
if left ~= -2 and left > told - 1000 then
  return 0 -- else who waits would sleep over the end of it, for as long as it was told
end
return redis.call(ARGV[2], ARGV[4], '0')
`);
