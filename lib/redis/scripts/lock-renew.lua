-- Sets the leases of many locks anew; a lease of 0 stays as it is.
-- KEYS lock and key of the hold, for each; the lock twice where the hold has none
-- ARGV field of the holder, lease (ms), kind of hold, for each: 'alone', 'write' or 'read'
-- -> 1 for each that is still held, 0 for each that is not
local alive = {}
for i = 1, #KEYS, 2 do
  local lock, hold = KEYS[i], KEYS[i + 1]
  local at = (i - 1) / 2 * 3
  local field, lease, kind = ARGV[at + 1], tonumber(ARGV[at + 2]), ARGV[at + 3]
  local held = redis.pcall('hexists', lock, field)
  if type(held) == 'table' then
    held = 0 -- another type: whatever it is, it is not the lock
  end
  if held == 1 and kind == 'read' then
    held = redis.call('exists', hold) -- others may keep the lock up after the end of this hold
  end
  if held == 1 and lease > 0 then
    if kind ~= 'alone' then
      redis.call('pexpire', hold, lease)
      lease = math.max(lease, redis.call('pttl', lock)) -- as long as any of its holds
    end
    redis.call('pexpire', lock, lease)
  end
  alive[(i + 1) / 2] = held
end
return alive
