-- How many ms the longest hold of one holder has left. Each has a key of its own; where the number that says how many there are
-- is more than any holder has, it is not used, and what the lock has left is the answer.
local function longestHold(lock, keys, holder, count)
  if count > 1000 then
    return math.max(0, redis.call('pttl', lock))
  end
  local left = 0
  for n = 1, count do
    left = math.max(left, redis.call('pttl', keys .. ':' .. holder .. ':rwlock_timeout:' .. n))
  end
  return left
end
