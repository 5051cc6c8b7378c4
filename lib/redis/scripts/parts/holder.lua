-- What an acquire reports of a holder that is in its way: its field, and what it says about itself, as far as both are short.
-- Of more than two holders nothing. Each hold of a read/write lock has a key of its own.
local function short(text)
  return type(text) == 'string' and #text <= 256 and text or ''
end

local function holderOf(lock, keyOf)
  if redis.call('hlen', lock) > 3 then
    return
  end
  for _, field in ipairs(redis.call('hkeys', lock)) do
    local isHolder = field ~= 'mode' and field ~= 'nestjs-interlock'
    local about = isHolder and keyOf and redis.pcall('get', keyOf(field))
    if isHolder and not keyOf then
      about = redis.call('hget', lock, 'nestjs-interlock') or ''
    end
    if about then
      return short(field), short(about)
    end
  end
end
