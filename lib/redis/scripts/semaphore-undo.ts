// Made of semaphore-undo.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const semaphoreUndo = new Script('semaphore-undo', `-- Gives back what a request has taken that no caller waits for any more; a copy of it that arrives later takes nothing.
-- KEYS permits, requests  ARGV number, first, life (ms), PUBLISH or SPUBLISH, channel
-- -> how many listen; -1: it had taken none
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
local taken = earlier(KEYS[2])
if type(taken) == 'table' then
  return -1
end
remember(KEYS[2], 0)
if (taken or 0) == 0 then
  return -1
end
local value = redis.call('incrby', KEYS[1], taken)
return value > 0 and redis.call(ARGV[4], ARGV[5], value) or 0
`);
