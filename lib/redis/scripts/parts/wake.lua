-- Wakes those that wait for permits: all that listen, and the first of the queue on a channel of its own.
local function wake(queue, publish, channel, available)
  if available <= 0 then
    return
  end
  redis.call(publish, channel, available)
  local first = redis.call('lindex', queue, 0)
  if first then
    redis.call(publish, channel .. ':' .. first, '1')
  end
end
