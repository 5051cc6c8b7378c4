-- Takes permits that no client owns. Layout of Redisson's RSemaphore: a number.
-- KEYS permits, requests  ARGV number, first, life (ms), how many  -> {1, 0}, or {0, -1}: when it is woken
-- include requests
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
