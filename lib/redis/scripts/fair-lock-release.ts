// Made of fair-lock-release.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const fairLockRelease = new Script('fair-lock-release', `-- Gives the lock back, or the place in its queue, and wakes the first who waits.
-- KEYS lock, queue, timeouts, alive  ARGV holder, PUBLISH or SPUBLISH, channel, wait (ms)
-- -> how many were woken; -1: it neither held nor waited
local lock, queue, timeouts, alive = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local holder, wait = ARGV[1], tonumber(ARGV[4])
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function leave(waiter)
  local place = redis.call('lpos', queue, waiter)
  if place then
    for _, behind in ipairs(redis.call('lrange', queue, place + 1, -1)) do
      redis.call('zincrby', timeouts, -wait, behind) -- which it had added for this one
    end
    redis.call('lrem', queue, 1, waiter)
  end
  redis.call('zrem', timeouts, waiter)
  redis.call('zrem', alive, waiter)
  return place
end

local gone = -1
if redis.call('hexists', lock, holder) == 1 then
  redis.call('del', lock)
  gone = 0
end
if leave(holder) then
  gone = 0
end
if redis.call('exists', lock) == 1 then
  return gone
end
for _, dead in ipairs(redis.call('zrangebyscore', alive, '-inf', now)) do
  leave(dead)
end
local head = redis.call('lindex', queue, 0)
while head and not redis.call('zscore', alive, head) do
  local deadline = redis.call('zscore', timeouts, head)
  if deadline and tonumber(deadline) > now then
    break
  end
  redis.call('lpop', queue)
  redis.call('zrem', timeouts, head)
  head = redis.call('lindex', queue, 0)
end
if not head then
  return gone
end
return redis.call(ARGV[2], ARGV[3] .. ':' .. head, '0')
`);
