-- Returns the permits that are held: each id as four numbers of 32 bits. Changes nothing.
-- KEYS timeouts  ARGV most of them  -> {{number, number, number, number}...}
local time = redis.call('time')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ids = redis.call('zrangebyscore', KEYS[1], '(' .. now, '+inf', 'limit', 0, ARGV[1])
local permits = {}
for i, id in ipairs(ids) do
  local a, b, c, d = struct.unpack('>I4I4I4I4', id)
  permits[i] = { a, b, c, d }
end
return permits
