import { LockOptionsError } from '../core/errors/index.js';
import type { GuardedWrite } from '../core/lease.js';
import type { RedisArgument } from './connection/ioredis.js';
import { Script } from './connection/script.js';
import { guardedWrite } from './scripts/index.js';

/** Commands on one key that is their first operand, by what they are about. */
const COMMANDS = [
  ...(['append', 'decr', 'decrby', 'get', 'getdel', 'getex', 'getrange', 'incr'] as const),
  ...(['incrby', 'incrbyfloat', 'psetex', 'set', 'setex', 'setnx', 'setrange', 'strlen'] as const),
  ...(['hdel', 'hexists', 'hget', 'hgetall', 'hincrby', 'hincrbyfloat', 'hkeys', 'hlen'] as const),
  ...(['hmget', 'hset', 'hsetnx', 'hvals'] as const),
  ...(['lindex', 'linsert', 'llen', 'lpop', 'lpush', 'lpushx', 'lrange', 'lrem'] as const),
  ...(['lset', 'ltrim', 'rpop', 'rpush', 'rpushx'] as const),
  ...(['sadd', 'scard', 'sismember', 'smembers', 'smismember', 'spop', 'srem'] as const),
  ...(['zadd', 'zcard', 'zcount', 'zincrby', 'zpopmax', 'zpopmin', 'zrange', 'zrank'] as const),
  ...(['zrem', 'zremrangebyrank', 'zremrangebyscore', 'zscore'] as const),
  ...(['xadd', 'xdel', 'xlen', 'xrange', 'xtrim'] as const),
  ...(['getbit', 'pfadd', 'setbit'] as const),
  ...(['expire', 'expireat', 'persist', 'pexpire', 'pexpireat', 'pttl', 'ttl', 'type'] as const),
  ...(['del', 'exists', 'unlink'] as const),
] as const;

/** Those of which every operand is a key: they get one. */
const OF_KEYS: readonly string[] = ['del', 'exists', 'unlink'];

/** Most operands of a command: Lua's stack has room for not many more. */
const MOST_OPERANDS = 5_000;

/** A key, a value or another operand; bytes are sent as they are. */
export type RedisOperand = string | number | Uint8Array;

/** A command on one key: its name, the key, and the rest of its operands, as in `['hset', 'order:7', 'state', 'paid']`. */
export type RedisCommand = readonly [
  name: (typeof COMMANDS)[number],
  key: string,
  ...operands: RedisOperand[],
];

/** A {@link GuardedWrite} for Redis. */
export interface RedisWrite<R> extends GuardedWrite<R> {
  readonly store: 'Redis';
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly RedisArgument[];
}

/** Runs the commands one after the other. KEYS one for each  ARGV name, number of further operands, operands; for each */
const RUN_COMMANDS = `local replies, at = {}, 1
for i = 1, #KEYS do
  local last = at + 1 + tonumber(ARGV[at + 1])
  replies[i] = redis.call(ARGV[at], KEYS[i], unpack(ARGV, at + 2, last))
  at = last + 1
end
return replies`;

const commandsScript = guarded(RUN_COMMANDS);

/**
 * Commands for `Lease.guard`, carried out one after the other. Resolves to their replies, as the driver returns those of scripts.
 * Redis undoes nothing: if one of them fails, those before it stay.
 *
 * @param commands at least one. On a cluster their keys have to be in the slot of the lock: for the lock `order:7` name them
 *   `{order:7}:lines`, with the `prefix` of the client if it has one
 * @throws LockOptionsError
 */
export function redisCommands(commands: readonly RedisCommand[]): GuardedWrite<unknown[]> {
  if (!Array.isArray(commands) || commands.length === 0)
    throw new LockOptionsError('commands', commands, "commands, as in [['incr', 'visits']]");
  const keys: string[] = [];
  const args: RedisArgument[] = [];
  for (const command of commands as readonly RedisCommand[]) {
    if (!Array.isArray(command))
      throw new LockOptionsError('commands', command, "each as an array, as in ['incr', 'visits']");
    const [name, key, ...operands] = command as RedisCommand;
    validateCommand(name, operands);
    keys.push(validKey(key));
    args.push(name, operands.length, ...operands.map(argument));
  }
  return { store: 'Redis', script: commandsScript, keys, args } as RedisWrite<unknown[]>;
}

/**
 * A script for `Lease.guard`. Resolves to what it returns, as the driver returns replies of scripts; `null` for nothing. Redis
 * undoes nothing: if the script fails, what it has written stays.
 *
 * @param source Lua, with `KEYS` and `ARGV` as in any script. Servers keep every source: give what changes as an argument
 * @param keys all that it uses, as for {@link redisCommands}
 * @throws LockOptionsError
 */
export function redisScript<R = unknown>(
  source: string,
  keys: readonly string[] = [],
  args: readonly RedisOperand[] = [],
): GuardedWrite<R> {
  if (typeof source !== 'string') throw new LockOptionsError('source', source, 'a script in Lua');
  if (!Array.isArray(keys)) throw new LockOptionsError('keys', keys, 'an array of keys');
  if (!Array.isArray(args)) throw new LockOptionsError('args', args, 'an array of arguments');
  const write: RedisWrite<R> = {
    store: 'Redis',
    script: guarded(source),
    keys: keys.map(validKey),
    args: args.map(argument),
  };
  return write;
}

/** The user's script stands first, where it does not see what is ours. */
function guarded(source: string): Script {
  const write = `local function write(KEYS, ARGV)\n${source}\nend\n`;
  return new Script(guardedWrite.name, write + guardedWrite.source);
}

function validateCommand(name: string, operands: readonly unknown[]): void {
  if (!(COMMANDS as readonly string[]).includes(name))
    throw new LockOptionsError(
      'commands',
      name,
      'commands on one key, in lower case; for another, a `redisScript` that calls it',
    );
  const most = OF_KEYS.includes(name) ? 0 : MOST_OPERANDS;
  if (operands.length > most)
    throw new LockOptionsError(
      'commands',
      `${name} with ${operands.length} operands after the first key`,
      most === 0 ? 'one command for each key' : `commands of at most ${most} operands`,
    );
}

function validKey(key: unknown): string {
  if (typeof key === 'string' && key !== '') return key;
  throw new LockOptionsError('key', key, 'the name of a key on Redis');
}

function argument(value: unknown): RedisArgument {
  if (typeof value === 'string' || Number.isFinite(value)) return value as RedisArgument;
  if (value instanceof Uint8Array) return Buffer.from(value); // copied: the caller may go on to use it
  throw new LockOptionsError('operand', value, 'a text, a finite number, or bytes');
}
