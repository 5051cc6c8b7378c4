-- Is the latch open? Layout of Redisson's RCountDownLatch: a number, and nothing when it is open.
-- KEYS count  ARGV none  -> {1, 0}, or {0, -1}: when it is woken
return tonumber(redis.call('get', KEYS[1]) or 0) > 0 and { 0, -1 } or { 1, 0 }
