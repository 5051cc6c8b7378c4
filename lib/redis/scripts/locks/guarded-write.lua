-- Runs the function `write` of a user, which stands before this script, if each of these holds is there. Its copies are answered
-- as it was, and do nothing: the request is noted before anything is written, as an error ends the script where it is.
-- KEYS requests, lock and key of the hold for each (as of a renewal), keys for the user
-- ARGV number, first, life of the hash (ms), how many holds, field and kind of each, arguments for the user
-- -> {1, what the function returns}, {2, the text of the error that it returns} or {0, the number of a hold that is not there}
-- include clock
-- include permits
-- include held
-- include requests
local function from(list, first)
  local rest = {}
  for i = first, #list do
    rest[#rest + 1] = list[i]
  end
  return rest
end

-- An error of the function is data: as an error of this script it would look like one of the server's, which means something else.
local function answer(reply)
  if type(reply) == 'table' and reply.err then
    return { 2, reply.err }
  end
  return { 1, reply }
end

local requests, count = KEYS[1], tonumber(ARGV[4])
local known = recorded(requests)
if type(known) == 'table' then
  return known
end
if known == '' then
  return redis.error_reply('GONE the request has failed')
end
if known then
  return answer(cmsgpack.unpack(known))
end
for i = 1, count do
  local lock, hold = KEYS[2 * i], KEYS[2 * i + 1]
  local field, kind = ARGV[3 + 2 * i], ARGV[4 + 2 * i]
  local held = kind == 'permits' and arePermitsHeld(lock, field) or isHeld(lock, hold, field, kind)
  if held == 0 then
    return { 0, i }
  end
end
remember(requests, '')
local reply = write(from(KEYS, 2 + 2 * count), from(ARGV, 5 + 2 * count))
redis.call('hset', requests, ARGV[1], cmsgpack.pack(reply))
return answer(reply)
