// Made of permit-release-ids.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const permitReleaseIds = new Script('permit-release-ids', `-- Gives the permits with these ids back, all or none, and wakes who waits.
-- Idempotent: a request that is sent again is answered as it was.
-- KEYS free, timeouts, channel, queue, request  ARGV PUBLISH or SPUBLISH, life of the answer (ms), id...
-- -> 1: done; 0: one of them is unknown or over
if redis.call('exists', KEYS[5]) == 1 then
  return 1
end
local free, timeouts, channel, queue = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 3, #ARGV do
  local deadline = redis.call('zscore', timeouts, ARGV[i])
  if not deadline or tonumber(deadline) <= now then
    return 0
  end
end
local released = 0
for i = 3, #ARGV do
  released = released + redis.call('zrem', timeouts, ARGV[i])
end
local available = redis.call('incrby', free, released)
if available > 0 then
  redis.call(ARGV[1], channel, available)
  local first = redis.call('lindex', queue, 0)
  if first then
    redis.call(ARGV[1], channel .. ':' .. first, '1')
  end
end
redis.call('set', KEYS[5], 1, 'px', ARGV[2])
return 1
`);
