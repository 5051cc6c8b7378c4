-- What counts once: a client numbers its requests, and a hash of its own remembers their answers, so that a copy of a request
-- is answered as it was. Each request says below which number all are settled: those are forgotten, and a copy of one of them
-- is refused (RIFL: Lee et al., Implementing Linearizability at Large Scale and Low Latency, SOSP 2015).
-- ARGV number, first that is not settled, life of the hash (ms), ...
local function recorded(requests)
  local answer, first = unpack(redis.call('hmget', requests, ARGV[1], 'first'))
  if answer then
    return answer
  end
  if first and tonumber(ARGV[1]) < tonumber(first) then
    return redis.error_reply('GONE the request was settled')
  end
end

local function earlier(requests)
  local answer = recorded(requests)
  return type(answer) == 'string' and tonumber(answer) or answer
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
