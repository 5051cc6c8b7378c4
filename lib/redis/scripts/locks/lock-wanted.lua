-- Whether others wait for a lock, as far as the server can see.
-- KEYS lock
-- ARGV the key of its waiters or '', NUMSUB or SHARDNUMSUB, its channel
-- -> 1 if they do, else 0
local waiting = ARGV[1] ~= '' and redis.pcall('zcard', ARGV[1]) or 0
local listening = redis.pcall('pubsub', ARGV[2], ARGV[3])
if type(waiting) == 'number' and waiting > 0 then
  return 1
end
return tonumber(listening[2]) and tonumber(listening[2]) > 0 and 1 or 0
