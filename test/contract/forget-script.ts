/** Removes everything on a server that one lock client has there. ARGV: what the names of its owners begin with. */
export const forgetScript = `
for _, key in ipairs(redis.call('keys', '*')) do
  local kind = redis.call('type', key).ok
  local function drop(members, ...)
    for _, member in ipairs(members) do
      if string.find(member, ARGV[1], 1, true) == 1 then
        local command = { ... }
        table.insert(command, member)
        redis.call(unpack(command))
      end
    end
  end
  if kind == 'string' and string.find(key, ARGV[1], 1, true) then
    redis.call('del', key)
  elseif kind == 'hash' then
    drop(redis.call('hkeys', key), 'hdel', key)
    local left = redis.call('hlen', key)
    local others = left - redis.call('hexists', key, 'mode') - redis.call('hexists', key, 'nestjs-interlock')
    if others == 0 then redis.call('del', key) end
  elseif kind == 'zset' then
    drop(redis.call('zrange', key, 0, -1), 'zrem', key)
  elseif kind == 'list' then
    drop(redis.call('lrange', key, 0, -1), 'lrem', key, 0)
  end
end`;
