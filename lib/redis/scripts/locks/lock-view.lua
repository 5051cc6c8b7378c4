-- What an operator sees of a lock. Changes nothing, and reads nothing of a key that is no lock.
-- KEYS lock, queue, queue of a semaphore  ARGV most fields, most waiters
-- -> {type, waiters, fields and values}; without fields if there are too many, or if it is a semaphore
local kind = redis.call('type', KEYS[1]).ok
if kind == 'string' then
  return { kind, redis.call('lrange', KEYS[3], 0, ARGV[2] - 1) }
end
if kind ~= 'none' and (kind ~= 'hash' or redis.call('hlen', KEYS[1]) > tonumber(ARGV[1])) then
  return { kind }
end
return { kind, redis.call('lrange', KEYS[2], 0, ARGV[2] - 1), redis.call('hgetall', KEYS[1]) }
