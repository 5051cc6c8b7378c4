// Made of write-lock-acquire.lua by `npm run scripts`; change that.
import { Script } from '../connection/script.js';

export const writeLockAcquire = new Script('write-lock-acquire', `-- Takes the lock for writing. Layout of Redisson's RReadWriteLock, and a key that tells about the writer.
-- Idempotent: sent again by the same holder it only sets the lease again.
-- KEYS lock, hold, writers  ARGV lease (ms), holder, about, life of a waiter (ms), 1: keep readers out while it waits
-- -> {1, 0} or {0, ms}
local lock, hold, writers = KEYS[1], KEYS[2], KEYS[3]
local ttl = redis.call('pttl', lock)
if ttl ~= -2 then
  local found = redis.call('hmget', lock, 'mode', ARGV[2])
  if not found[1] then
    return redis.error_reply('LOCKKIND a mutex')
  end
  if not found[2] then
    if ARGV[5] == '1' then
      local time = redis.call('time')
      redis.call('zadd', writers, time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[4], ARGV[2])
      redis.call('pexpire', writers, ARGV[4])
    end
    return { 0, ttl }
  end
else
  redis.call('hset', lock, 'mode', 'write', ARGV[2], 1)
end
if ARGV[5] == '1' then
  redis.call('zrem', writers, ARGV[2])
end
redis.call('set', hold, ARGV[3], 'px', ARGV[1])
redis.call('pexpire', lock, math.max(ttl, tonumber(ARGV[1])))
return { 1, 0 }
`);
