-- A copy of an acquire or of a renewal may arrive after the lease was extended: they only make a lease longer. -1: without end.
local function raise(key, lease)
  local left = redis.call('pttl', key)
  if left >= 0 and left < tonumber(lease) then
    redis.call('pexpire', key, lease)
  end
end
