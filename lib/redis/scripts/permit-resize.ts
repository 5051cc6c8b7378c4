// Made of permit-resize.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const permitResize = new Script('permit-resize', `-- Changes how many permits there are: 'try' where there is no semaphore yet, 'set' to so many, 'add' so many; wakes the
-- waiters.
-- KEYS free, timeouts, queue, requests  ARGV number, first, life (ms), PUBLISH or SPUBLISH, channel, mode, how many
-- -> 1: done, 0: not done
-- What counts once: a client numbers its requests, and a hash of its own remembers their answers, so that a copy of a request
-- is answered as it was. Each request says below which number all are settled: those are forgotten, and a copy of one of them
-- is refused (RIFL: Lee et al., Implementing Linearizability at Large Scale and Low Latency, SOSP 2015).
-- ARGV number, first that is not settled, life of the hash (ms), ...
local function earlier(requests)
  local answer, first = unpack(redis.call('hmget', requests, ARGV[1], 'first'))
  if answer then
    return tonumber(answer)
  end
  if first and tonumber(ARGV[1]) < tonumber(first) then
    return redis.error_reply('GONE the request was settled')
  end
end

local function remember(requests, answer)
  local first = tonumber(ARGV[2])
  local before = tonumber(redis.call('hget', requests, 'first') or first)
  redis.call('hset', requests, ARGV[1], answer, 'first', math.max(first, before))
  for settled = before, first - 1 do
    redis.call('hdel', requests, settled)
  end
  redis.call('pexpire', requests, ARGV[3])
  return answer
end
local free, timeouts, queue, channel = KEYS[1], KEYS[2], KEYS[3], ARGV[5]
local mode, more = ARGV[6], tonumber(ARGV[7])
local answered = earlier(KEYS[4])
if answered then
  return answered
end
local available = tonumber(redis.call('get', free) or 0)
if not available then
  return redis.error_reply('WRONGTYPE not a number')
end
if mode == 'try' and redis.call('exists', free) == 1 then
  return remember(KEYS[4], 0)
end
if mode == 'set' then
  more = more - available - redis.call('zcard', timeouts)
end
available = redis.call('incrby', free, more)
if available > 0 then
  redis.call(ARGV[4], channel, available)
  local first = redis.call('lindex', queue, 0)
  if first then
    redis.call(ARGV[4], channel .. ':' .. first, '1')
  end
end
return remember(KEYS[4], 1)
`);
