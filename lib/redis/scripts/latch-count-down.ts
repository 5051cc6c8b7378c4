// Made of latch-count-down.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const latchCountDown = new Script('latch-count-down', `-- Counts down, and opens the latch at 0.
-- KEYS count, requests  ARGV number, first, life (ms), PUBLISH or SPUBLISH, channel  -> what is left
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
local answered = earlier(KEYS[2])
if answered then
  return answered
end
local count = tonumber(redis.call('get', KEYS[1]) or 0) - 1
if count > 0 then
  redis.call('decr', KEYS[1])
elseif count == 0 then
  redis.call('del', KEYS[1])
  redis.call(ARGV[4], ARGV[5], '0')
end
return remember(KEYS[2], math.max(count, 0))
`);
