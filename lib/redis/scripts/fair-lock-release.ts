// Made of fair-lock-release.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const fairLockRelease = new Script('fair-lock-release', `-- Gives the lock back, or the place in its queue, and wakes the first who waits.
-- KEYS lock, queue, timeouts, alive  ARGV holder, PUBLISH or SPUBLISH, channel, wait (ms)
-- -> how many were woken; -1: it neither held nor waited
local lock, queue, timeouts, alive = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local holder = ARGV[1]
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local gone = -1
if redis.call('hexists', lock, holder) == 1 then
  redis.call('del', lock)
  gone = 0
end
local place = redis.call('lpos', queue, holder)
if place then
  for _, waiter in ipairs(redis.call('lrange', queue, place + 1, -1)) do
    redis.call('zincrby', timeouts, -tonumber(ARGV[4]), waiter)
  end
  redis.call('lrem', queue, 0, holder)
  gone = 0
end
redis.call('zrem', timeouts, holder)
redis.call('zrem', alive, holder)
if redis.call('exists', lock) == 1 then
  return gone
end
for _, dead in ipairs(redis.call('zrangebyscore', alive, '-inf', now)) do
  redis.call('zrem', alive, dead)
  redis.call('lrem', queue, 0, dead)
  redis.call('zrem', timeouts, dead)
end
local head = redis.call('lindex', queue, 0)
while head do
  local deadline = redis.call('zscore', timeouts, head)
  if not deadline or tonumber(deadline) > now then
    return redis.call(ARGV[2], ARGV[3] .. ':' .. head, '0')
  end
  redis.call('lpop', queue)
  redis.call('zrem', timeouts, head)
  redis.call('zrem', alive, head)
  head = redis.call('lindex', queue, 0)
end
return gone
`);
