/**
 * Ends the leases of permits on a server, and removes the waiters for some. ARGV: the holders and waiters, each as its 12
 * bytes and their number, in hexadecimal digits.
 */
export const forgetPermitsScript = `
local function bytesOf(digits)
  return (string.gsub(digits, '%x%x', function(two) return string.char(tonumber(two, 16)) end))
end
for _, key in ipairs(redis.call('keys', '*')) do
  local kind = redis.call('type', key).ok
  for _, holder in ipairs(ARGV) do
    if kind == 'list' then
      redis.call('lrem', key, 0, holder)
    elseif kind == 'zset' then
      redis.call('zrem', key, holder)
      for i = 0, tonumber(string.sub(holder, 25), 16) - 1 do
        redis.call('zadd', key, 'xx', 1, bytesOf(string.sub(holder, 1, 24)) .. struct.pack('>I4', i))
      end
    end
  end
end`;
