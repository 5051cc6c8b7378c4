// Made of lock-release.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const lockRelease = new Script('lock-release', `-- Gives locks of one holder back and wakes the waiters.
-- KEYS lock...
-- ARGV holder, PUBLISH or SPUBLISH or '': wakes none; for each lock its channel, and a tombstone to leave or ''
-- -> how many listen; -1: it held none of them
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
local listening = -1
for i, lock in ipairs(KEYS) do
  bury(ARGV[2 * i + 2])
  if redis.pcall('hexists', lock, ARGV[1]) == 1 then -- another type: whatever it is, it is not the lock
    redis.call('del', lock)
    listening = math.max(listening, 0)
    if ARGV[2] ~= '' then
      listening = listening + redis.call(ARGV[2], ARGV[2 * i + 1], '0')
    end
  end
end
return listening
`);
