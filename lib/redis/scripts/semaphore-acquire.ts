// Made of semaphore-acquire.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const semaphoreAcquire = new Script('semaphore-acquire', `-- Takes permits that no client owns. Layout of Redisson's RSemaphore: a number.
-- KEYS permits, requests  ARGV number, first, life (ms), how many  -> {1, 0}, or {0, -1}: when it is woken
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
  return taken
end
if not taken then
  local available = tonumber(redis.call('get', KEYS[1]) or 0)
  if not available then
    return redis.error_reply('WRONGTYPE not a number')
  end
  taken = available >= tonumber(ARGV[4]) and tonumber(ARGV[4]) or 0
  if taken > 0 then
    redis.call('decrby', KEYS[1], taken)
  end
  remember(KEYS[2], taken)
end
return taken > 0 and { 1, 0 } or { 0, -1 }
`);
