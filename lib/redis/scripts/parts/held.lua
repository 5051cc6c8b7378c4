-- Whether a hold is there: 1 or 0. Another type under its name, whatever it is, is not the lock.
local function isHeld(lock, hold, field, kind)
  local held = redis.pcall('hexists', lock, field)
  if type(held) == 'table' then
    return 0
  end
  if held == 1 and kind ~= 'alone' then
    return redis.call('exists', hold) -- others may keep the lock up after the end of this hold
  end
  return held
end

local function arePermitsHeld(timeouts, holder)
  local all = 1
  eachThousand(holder, function(ids)
    local deadlines = redis.pcall('zmscore', timeouts, unpack(ids))
    for i = 1, #ids do
      if not deadlines[i] or tonumber(deadlines[i]) <= now then
        all = 0
      end
    end
  end)
  return all
end
