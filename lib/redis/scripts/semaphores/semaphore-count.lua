-- Number of permits without an owner.
-- KEYS permits  ARGV none  -> how many
local available = tonumber(redis.call('get', KEYS[1]) or 0)
return available or redis.error_reply('WRONGTYPE not a number')
