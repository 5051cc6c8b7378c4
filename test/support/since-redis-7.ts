import { sinceRedis } from './redis-version.js';

type Argument = string | number | Buffer;

/** `PEXPIRETIME`, for which time stands still in a script. */
const EXPIRY = `local left = redis.call('pttl', KEYS[1])
if left < 0 then return left end
local time = redis.call('time')
return time[1] * 1000 + math.floor(time[2] / 1000) + left`;

/**
 * A command that a test asks a server for, so that Redis 6.2 understands it too: what the tests look at is younger in places
 * than what the library needs.
 */
export function forThisRedis(name: string, args: readonly Argument[]): [string, ...Argument[]] {
  if (sinceRedis('7.0')) return [name, ...args];
  const [first] = args;
  switch (name.toUpperCase()) {
    case 'PEXPIRETIME':
      return ['EVAL', EXPIRY, 1, first!];
    case 'PEXPIRE': // without LT and the like
      return [name, ...args.slice(0, 2)];
    case 'PUBSUB': // there are no sharded channels
      return [name, String(first).replace(/^shard/i, ''), ...args.slice(1)];
    default:
      return [name, ...args];
  }
}
