-- Releases the lock, or the place in its queue, and wakes the first waiter.
-- KEYS lock, queue, timeouts, alive  ARGV holder, PUBLISH or SPUBLISH, channel, wait (ms), tombstone or ''
-- -> how many were woken; -1: it neither held nor waited
local lock, queue, timeouts, alive = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local holder, publish, channel, wait = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
-- include clock
-- include gone
-- include fair-queue

local gone = -1
local held = redis.call('hexists', lock, holder) == 1
if held then
  redis.call('del', lock)
  gone = 0
end
if leave(holder) then
  gone = 0
end
bury(ARGV[5])
if not held and redis.call('exists', lock) == 1 then -- what was deleted from a slot that is moving must not be asked for
  return gone
end
local head, more = firstInLine()
if not head then
  return gone
end
local woken = wake(head)
if more then -- the first may be dead: one that lives is to go on with the removal
  local living = redis.call('zrangebyscore', alive, '(' .. now, '+inf', 'limit', 0, 1)[1]
  if living and living ~= head then
    woken = woken + wake(living)
  end
end
return woken
