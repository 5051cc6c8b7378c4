import type { PLANTED_IN_CLIENT } from './planted-in-client.js';

/** A bug: what has become of the scripts that have that text. */
function replacing(...pairs: readonly (readonly [text: string, by: string])[]) {
  return (source: string): string =>
    pairs.reduce((changed, [text, by]) => changed.replaceAll(text, by), source);
}

/** Bugs of the scripts, by their names. */
export const PLANTED = {
  'renews what another one holds': replacing([
    'local held = isHeld(lock, hold, field, kind)',
    "local held = redis.call('exists', lock)",
  ]),
  'lets a late copy undo an extension': replacing([
    'if isStale(last, number, sets) then',
    'if false then',
  ]),
  'releases what another one holds': replacing([
    "redis.pcall('hexists', lock, ARGV[1]) == 1",
    "redis.call('exists', lock) == 1",
  ]),
  'wakes none of the registered waiters': replacing([
    "wakeNext(waiters, ARGV[2], channel, redis.call(ARGV[2], channel, '0'))",
    "redis.call(ARGV[2], channel, '0')",
  ]),
  'wakes no other when a woken waiter leaves': replacing([
    "if stopWaiting(waiters, waiter) or redis.call('exists', lock) == 0 then",
    'if stopWaiting(waiters, waiter) then',
  ]),
  'leaves permits without a word that it was woken to take': replacing([
    'wakeSome(queue, waiters, publish, channel, available) -- it may have been woken to take them',
    '',
  ]),
  'lets the renewal of one reader shorten the lock of all': replacing([
    'raise(lock, lease) -- it lives as long as any of its holds',
    "redis.call('pexpire', lock, lease)",
  ]),
  'shortens leases by copies': replacing([
    'if left >= 0 and left < tonumber(lease) then',
    'if left >= 0 then',
  ]),
  'forgets which extension a renewal stands for': replacing(
    [
      "  if number > last then\n    redis.call('hset', lock",
      "  if sets then\n    redis.call('hset', lock",
    ],
    [
      "  if number > last then\n    redis.call('set', hold",
      "  if sets then\n    redis.call('set', hold",
    ],
    [
      "  if number > last then\n    redis.call('set', latest",
      "  if sets then\n    redis.call('set', latest",
    ],
  ),
  'grants to holders that have gone': replacing([
    "return redis.pcall('exists', tombstone) == 1",
    'return false',
  ]),
  'leaves no tombstones': replacing(["if tombstone ~= '' then", 'if false then']),
  'serves the first to ask when the lock is free': replacing(
    ['local isNext = found == 0 and (not head or head == holder)', 'local isNext = found == 0'],
    ['if available >= count and (not first or first == waiter) then', 'if available >= count then'],
  ),
  'serves the last of the queue first': replacing(['return at(0), more', 'return at(-1), more']),
  'counts the copies of a request': replacing([
    "local answer, first = unpack(redis.call('hmget', requests, ARGV[1], 'first'))",
    'local answer, first = false, false',
  ]),
  'gives a token twice': replacing([
    "isFree[1] and redis.call('incr', token) or tonumber(redis.call('get', token) or 0)",
    "tonumber(redis.call('get', token) or 0)",
  ]),
  'takes the last reader out without a word': replacing([
    "local heard = redis.call(ARGV[2], ARGV[4], '0')",
    'local heard = 0',
  ]),
  'keeps expired permits': replacing([
    "local expired = redis.call('zremrangebyscore', timeouts, 0, now)",
    'local expired = 0',
  ]),
  'takes some of several locks while another one is taken': replacing([
    '      return wait(left, i)',
    `      for j = 1, i - 1 do
        redis.call('hset', KEYS[j], holder, 1, 'nestjs-interlock', ARGV[3])
        redis.call('pexpire', KEYS[j], lease)
      end
      return wait(left, i)`,
  ]),
  'leaves the waiters of one of several locks without a word': replacing([
    'leaveWaiters(waitersOf(before), holder, KEYS[before], publish, channel)',
    "redis.call('zrem', waitersOf(before), holder)",
  ]),
  'releases the first of several locks': replacing([
    'for i, lock in ipairs(KEYS) do',
    'for i, lock in ipairs({ KEYS[1] }) do',
  ]),
  'releases what the writer reads with its write lock': replacing([
    "if longest > 0 then\n  redis.call('hset', lock, 'mode', 'read')",
    "if false then\n  redis.call('hset', lock, 'mode', 'read')",
  ]),
  'keeps permits that were acquired in vain': replacing([
    "local value = redis.call('incrby', KEYS[1], taken)",
    'local value = 0',
  ]),
  'opens the latch before the last count': replacing(
    ['if count > 0 then', 'if count > 1 then'],
    ['elseif count == 0 then', 'elseif count >= 0 then'],
  ),
  'lets leases end early': replacing([
    "redis.call('pexpire', KEYS[i], lease)",
    "redis.call('pexpire', KEYS[i], lease / 2)",
  ]),
  'opens the latch without a word': replacing([
    "redis.call('del', KEYS[1])\n  redis.call(ARGV[4], ARGV[5], '0')\nend",
    "redis.call('del', KEYS[1])\nend",
  ]),
  'overlooks who waited before a lock was kept': replacing([
    'return { isWanted and 1 or 0',
    'return { 0',
  ]),
  'removes the dead from a queue one by one': replacing([
    "local line = redis.call('lrange', queue, 0, -1)",
    `for waiter in pairs(dead) do
       local place = redis.call('lpos', queue, waiter)
       redis.call('lrem', queue, 1, waiter)
       forget({ waiter })
       for _, other in ipairs(redis.call('lrange', queue, place or 0, -1)) do shift(other, 1) end
     end
     local line = redis.call('lrange', queue, 0, -1)`,
  ]),
  'names the channel as a key': replacing([
    'for i, lock in ipairs(KEYS) do',
    'for i = 1, #KEYS / 2 do\n  local lock = KEYS[i]',
  ]),
} satisfies Record<string, (source: string) => string>;

export type PlantedBug = keyof typeof PLANTED | keyof typeof PLANTED_IN_CLIENT;
