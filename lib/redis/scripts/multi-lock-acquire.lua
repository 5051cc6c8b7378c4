-- Takes many locks, all or none, or tells how long one of the holders may keep its own. Layout of Redisson's RLock.
-- Idempotent: sent again by the same holder it only sets the leases again.
-- KEYS lock...  ARGV lease (ms), holder, about  -> {1, 0} or {0, ms, which of them}
for i, lock in ipairs(KEYS) do
  if redis.call('exists', lock) == 1 then
    local found = redis.call('hmget', lock, ARGV[2], 'mode')
    if found[2] then
      return redis.error_reply('LOCKKIND a read/write lock')
    end
    if not found[1] then
      return { 0, redis.call('pttl', lock), i - 1 }
    end
  end
end
for _, lock in ipairs(KEYS) do
  redis.call('hset', lock, ARGV[2], 1, 'nestjs-interlock', ARGV[3])
  redis.call('pexpire', lock, ARGV[1])
end
return { 1, 0 }
