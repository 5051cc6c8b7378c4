-- A request that counts once has a key that remembers its answer, "not done" too: a copy of it that arrives later changes
-- nothing, whatever has happened since.
local function remember(request, answer, life)
  redis.call('set', request, answer, 'px', life)
  return answer
end
