-- Needs the part on waiters.
-- How many permits a waiter wants: its id says it, in the last 8 of its hexadecimal digits.
local function wantedBy(waiter)
  return tonumber(string.sub(waiter, -8), 16)
end

-- Wakes, each on a channel of its own, the first of the queue and the registered ones that there are enough permits for.
-- Returns how many heard of it.
local function wakeSome(queue, waiters, publish, channel, available)
  local first = available > 0 and redis.call('lindex', queue, 0)
  local heard = first and redis.call(publish, channel .. ':' .. first, '1') or 0
  return heard + wakeRegistered(waiters, publish, channel, available, wantedBy)
end

-- Wakes all that listen, too.
local function wake(queue, waiters, publish, channel, available)
  local heard = available > 0 and redis.call(publish, channel, available) or 0
  return heard + wakeSome(queue, waiters, publish, channel, available)
end
