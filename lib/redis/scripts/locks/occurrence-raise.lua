-- Raises the mark of a job to an occurrence, or only asks whether it can be raised.
-- Safe to arrive twice and late: the mark only moves forward, and a copy of the request that raised it is answered as that was.
-- A mark too far ahead of this server's clock, which was then set back since, counts as none.
-- KEYS mark  ARGV occurrence (ms since 1970), request or '': only asks, farthest ahead (ms), life of the mark (ms)
-- -> 1: raised, or it can be; 0: that occurrence or a later one was begun; -1: it is too far ahead
-- include clock
local occurrence, request, life = tonumber(ARGV[1]), ARGV[2], ARGV[4]
local farthest = now + tonumber(ARGV[3])
local found = redis.call('hmget', KEYS[1], 'occurrence', 'request')
if request ~= '' and found[2] == request then
  redis.call('pexpire', KEYS[1], life) -- a write, which `WAIT` can wait for again
  return 1
end
local reached = found[1] and tonumber(found[1])
if reached and reached >= occurrence and reached <= farthest then
  return 0
end
if occurrence > farthest then
  return -1
end
if request ~= '' then
  redis.call('hset', KEYS[1], 'occurrence', ARGV[1], 'request', request)
  redis.call('pexpire', KEYS[1], life)
end
return 1
