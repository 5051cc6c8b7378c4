-- The permits of one holder: the ids are 12 bytes that they have in common and the number of the permit, from 0, in 4. Commands
-- get a thousand of them at a time: one for each would take long, and all of them are more than Lua's stack has room for.
local function eachThousand(holder, command)
  local prefix, count = string.sub(holder, 1, 12), struct.unpack('>I4', holder, 13)
  for from = 0, count - 1, 1000 do
    local ids = {}
    for i = from, math.min(from + 999, count - 1) do
      ids[#ids + 1] = prefix .. struct.pack('>I4', i)
    end
    command(ids)
  end
end

local function setDeadlines(timeouts, holder, deadline, ...)
  local options, score = { ... }, string.format('%.0f', deadline)
  eachThousand(holder, function(ids)
    local words = { unpack(options) }
    for _, id in ipairs(ids) do
      words[#words + 1] = score
      words[#words + 1] = id
    end
    redis.call('zadd', timeouts, unpack(words))
  end)
end
