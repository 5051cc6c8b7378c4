-- Takes the lock from all who hold it in that mode, and wakes who waits, as the releases do.
-- KEYS lock, channel  ARGV mode, PUBLISH or SPUBLISH  -> 1: it was held so
if redis.call('hget', KEYS[1], 'mode') ~= ARGV[1] then
  return 0
end
redis.call('del', KEYS[1])
if ARGV[1] == 'write' then
  redis.call(ARGV[2], KEYS[2], '1')
end
redis.call(ARGV[2], KEYS[2], '0')
return 1
