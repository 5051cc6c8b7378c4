-- Takes locks, all or none, or returns how long the holder of one of them may keep it. Layout of Redisson's RLock and
-- RFencedLock.
-- Safe to arrive twice and late: what the holder has already is only made to last longer, and for a holder that has gone
-- nothing is taken.
-- KEYS lock..., [token: of one lock]
-- ARGV lease (ms), holder, about, how many locks, the tombstone of the holder at each lock
-- -> {1, token or 0} or {0, ms, which of them is taken, field and text of its holder}
-- include gone
-- include raise
-- include holder
local lease, holder, count = ARGV[1], ARGV[2], tonumber(ARGV[4])
local isFree = {}
for i = 1, count do
  local left = redis.call('pttl', KEYS[i])
  isFree[i] = left == -2
  if isFree[i] then
    if isGone(ARGV[4 + i]) then
      return redis.error_reply('GONE the holder has given up')
    end
  else
    local found = redis.call('hmget', KEYS[i], holder, 'mode')
    if found[2] then
      return redis.error_reply('LOCKKIND a read/write lock')
    end
    if not found[1] then
      return { 0, left, i - 1, holderOf(KEYS[i]) }
    end
  end
end
local token = KEYS[count + 1]
local grant = 0
if token then
  grant = isFree[1] and redis.call('incr', token) or tonumber(redis.call('get', token) or 0) -- first: it may fail
end
for i = 1, count do
  if isFree[i] then
    redis.call('hset', KEYS[i], holder, 1, 'nestjs-interlock', ARGV[3])
    redis.call('pexpire', KEYS[i], lease)
  else
    raise(KEYS[i], lease)
  end
end
return { 1, grant }
