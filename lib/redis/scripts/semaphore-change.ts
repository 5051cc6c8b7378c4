// Made of semaphore-change.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const semaphoreChange = new Script('semaphore-change', `-- Changes the number of permits that nobody owns, and wakes the waiters.
-- Modes: 'release' and 'add' so many, 'release-if-exists', 'try' where there is none yet, 'drain' to 0.
-- KEYS permits, requests  ARGV number, first, life (ms), PUBLISH or SPUBLISH, channel, mode, how many, [life (ms)]
-- -> 1: done, 0: not done; how many there were when they are drained
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
local permits, mode = KEYS[1], ARGV[6]
local answered = earlier(KEYS[2])
if answered then
  return answered
end
local value = redis.call('get', permits)
if value and not tonumber(value) then
  return redis.error_reply('WRONGTYPE not a number')
end
local answer = 1
if mode == 'try' and value or mode == 'release-if-exists' and not value then
  answer = 0
elseif mode == 'drain' then
  answer = tonumber(value or 0)
  redis.call('set', permits, 0)
elseif mode == 'try' then
  redis.call('set', permits, ARGV[7])
  if ARGV[8] then
    redis.call('pexpire', permits, ARGV[8])
  end
else
  redis.call('incrby', permits, ARGV[7])
end
local now = tonumber(redis.call('get', permits) or 0)
if mode ~= 'drain' and answer == 1 and now > 0 then
  redis.call(ARGV[4], ARGV[5], now)
end
return remember(KEYS[2], answer)
`);
