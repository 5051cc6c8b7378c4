-- Whether others wait for a lock, as far as this server can see.
-- KEYS lock
-- ARGV the key of its waiters or '', NUMSUB or SHARDNUMSUB, its channel
-- -> {1 if they do, else 0; how many of them are Redisson's}
-- include clock
local waiters = ARGV[1]
local waiting, listener = 0, 0
if waiters ~= '' then
  local count = redis.pcall('zcard', waiters)
  waiting = type(count) == 'number' and count or 0
  local score = redis.pcall('zrange', waiters, 0, 0, 'withscores')[2]
  listener = score and -tonumber(score) > now and 1 or 0
end
local listening = tonumber(redis.pcall('pubsub', ARGV[2], ARGV[3])[2]) or 0
return { (waiting > 0 or listening > 0) and 1 or 0, math.max(0, listening - listener) }
