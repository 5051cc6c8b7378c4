-- A copy of an acquire may arrive after its holder has released the lock or stopped waiting for it. A release leaves a
-- tombstone where that may be, and an acquire takes nothing for a holder that has one. Called by `pcall`: what cannot be read
-- or written in a slot under migration must not keep a lock from being acquired or released. A server without memory refuses it
-- only to the first write of a script: that one is a `del`.
local function isGone(tombstone)
  return redis.pcall('exists', tombstone) == 1
end

local function bury(tombstone)
  if tombstone ~= '' then
    redis.pcall('del', tombstone)
    redis.pcall('set', tombstone, 1, 'px', 960000)
  end
end
