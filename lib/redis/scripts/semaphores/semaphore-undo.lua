-- Releases what a request has taken if no caller waits for it any more; a copy of it that arrives later takes nothing. Does not
-- make a semaphore anew that has ended since.
-- KEYS permits, requests  ARGV number, first, life (ms), PUBLISH or SPUBLISH, channel
-- -> how many listen; -1: it had taken none
-- include requests
local taken = earlier(KEYS[2])
if type(taken) == 'table' then
  return -1
end
remember(KEYS[2], 0)
if (taken or 0) == 0 then
  return -1
end
if redis.call('exists', KEYS[1]) == 0 then
  return 0
end
local value = redis.call('incrby', KEYS[1], taken)
return value > 0 and redis.call(ARGV[4], ARGV[5], value) or 0
