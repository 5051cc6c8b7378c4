-- Whether others wait for a lock, as far as this server can see.
-- KEYS lock
-- ARGV the key of its waiters or '', NUMSUB or SHARDNUMSUB, its channel, and the one beside it, to which those listen that hand it on
-- -> {1 if they do, else 0; how many of them hand nothing on, as those of Redisson}
local waiting = ARGV[1] ~= '' and redis.pcall('zcard', ARGV[1]) or 0
local subscribed = redis.pcall('pubsub', ARGV[2], ARGV[3], ARGV[4])
local listening, handing = tonumber(subscribed[2]) or 0, tonumber(subscribed[4]) or 0
local isWanted = listening > 0 or type(waiting) == 'number' and waiting > 0
return { isWanted and 1 or 0, math.max(0, listening - handing) }
