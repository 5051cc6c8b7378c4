// Made of permit-resize.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const permitResize = new Script('permit-resize', `-- Changes how many permits there are: 'try' where there is no semaphore yet, 'set' to so many, 'add' so many; wakes the
-- waiters.
-- KEYS free, timeouts, queue, request  ARGV PUBLISH or SPUBLISH, channel, life of the answer (ms), mode, how many
-- -> 1: done, 0: not done
-- A request that counts once has a key that remembers its answer, "not done" too: a copy of it that arrives later changes
-- nothing, whatever has happened since.
local function remember(request, answer, life)
  redis.call('set', request, answer, 'px', life)
  return answer
end
local free, timeouts, queue, channel = KEYS[1], KEYS[2], KEYS[3], ARGV[2]
local mode, more = ARGV[4], tonumber(ARGV[5])
local answered = redis.call('get', KEYS[4])
if answered then
  return tonumber(answered)
end
local available = tonumber(redis.call('get', free) or 0)
if not available then
  return redis.error_reply('WRONGTYPE not a number')
end
if mode == 'try' and redis.call('exists', free) == 1 then
  return remember(KEYS[4], 0, ARGV[3])
end
if mode == 'set' then
  more = more - available - redis.call('zcard', timeouts)
end
available = redis.call('incrby', free, more)
if available > 0 then
  redis.call(ARGV[1], channel, available)
  local first = redis.call('lindex', queue, 0)
  if first then
    redis.call(ARGV[1], channel .. ':' .. first, '1')
  end
end
return remember(KEYS[4], 1, ARGV[3])
`);
