-- Takes the lock, or tells how long the holder may keep it. Layout of Redisson's RLock and RFencedLock.
-- Idempotent: sent again by the same holder it only sets the lease again.
-- KEYS lock, [token]  ARGV lease (ms), holder, about  -> {1, token} or {0, ms}
local token = 0
if redis.call('exists', KEYS[1]) == 1 then
  local found = redis.call('hmget', KEYS[1], ARGV[2], 'mode')
  if found[2] then
    return redis.error_reply('LOCKKIND a read/write lock')
  end
  if not found[1] then
    return { 0, redis.call('pttl', KEYS[1]) }
  end
  if KEYS[2] then
    token = tonumber(redis.call('get', KEYS[2]) or 0)
  end
else
  if KEYS[2] then
    token = redis.call('incr', KEYS[2]) -- first: where it fails, nothing may be locked
  end
  redis.call('hset', KEYS[1], ARGV[2], 1, 'nestjs-interlock', ARGV[3])
end
redis.call('pexpire', KEYS[1], ARGV[1])
return { 1, token }
