// Made of permit-release.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const permitRelease = new Script('permit-release', `-- Gives permits back, or the place in the queue for them, and wakes the waiters.
-- KEYS free, timeouts, queue, alive, number of the last extension
-- ARGV holder (12 bytes, and how many permits in 4), holder as text, PUBLISH or SPUBLISH, channel, tombstone to leave or ''
-- -> how many listen; -1: it had none
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
local free, timeouts, queue, alive = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local channel = ARGV[4]
bury(ARGV[5])

local released = 0
eachThousand(ARGV[1], function(ids)
  released = released + redis.call('zrem', timeouts, unpack(ids))
end)
redis.call('lrem', queue, 1, ARGV[2])
redis.call('zrem', alive, ARGV[2])
redis.call('del', KEYS[5])
local available = 0
local listening = -1
if released > 0 then
  available = redis.call('incrby', free, released)
  listening = available > 0 and redis.call(ARGV[3], channel, available) or 0
else
  available = tonumber(redis.call('get', free) or 0)
end
local first = redis.call('lindex', queue, 0)
if first and available > 0 then
  listening = math.max(listening, 0) + redis.call(ARGV[3], channel .. ':' .. first, '1')
end
return listening
`);
