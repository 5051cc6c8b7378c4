import type { Command, Commands } from '../command.js';
import type { Keyspace } from '../keyspace.js';
import { integerOf } from '../numbers.js';
import { fail, Errors, type Reply, StatusReply } from '../reply.js';

const deletion: Command = {
  arity: -2,
  effect: 'write',
  run: (keyspace, keys) => keys.filter((key) => keyspace.delete(key)).length,
};

/** Commands of keys of any type. */
export const keyCommands: Commands = {
  exists: {
    arity: -2,
    run: (keyspace, keys) => keys.filter((key) => keyspace.entry(key)).length,
  },
  type: {
    arity: 2,
    run: (keyspace, [key]) => new StatusReply(keyspace.entry(key!)?.type ?? 'none'),
  },
  del: deletion,
  unlink: deletion,
  pttl: {
    arity: 2,
    run: (keyspace, [key]) => ends(keyspace, key!, (end) => end - keyspace.now()),
  },
  ttl: {
    arity: 2,
    run: (keyspace, [key]) =>
      ends(keyspace, key!, (end) => Math.floor((end - keyspace.now() + 500) / 1_000)),
  },
  pexpiretime: { arity: 2, run: (keyspace, [key]) => ends(keyspace, key!, (end) => end) },
  expire: expiring('expire', 1_000, (keyspace) => keyspace.now()),
  expireat: expiring('expireat', 1_000, () => 0),
  pexpire: expiring('pexpire', 1, (keyspace) => keyspace.now()),
  pexpireat: expiring('pexpireat', 1, () => 0),
  persist: {
    arity: 2,
    effect: 'write',
    run(keyspace, [key]) {
      const entry = keyspace.entry(key!);
      if (entry === undefined || entry.expiresAt === Infinity) return 0;
      keyspace.expire(key!, Infinity);
      return 1;
    },
  },
  scan: { arity: -2, run: scan },
};

function ends(keyspace: Keyspace, key: string, answer: (expiresAt: number) => number): number {
  const entry = keyspace.entry(key);
  if (entry === undefined) return -2;
  return entry.expiresAt === Infinity ? -1 : answer(entry.expiresAt);
}

/** @param unit of the time, in ms */
function expiring(name: string, unit: number, start: (keyspace: Keyspace) => number): Command {
  return {
    arity: 3,
    effect: 'write',
    run(keyspace, [key, time]) {
      const number = integerOf(time!);
      if (number * unit > Number.MAX_SAFE_INTEGER)
        fail(`ERR invalid expire time in '${name}' command`);
      if (keyspace.entry(key!) === undefined) return 0;
      keyspace.expire(key!, start(keyspace) + number * unit);
      return 1;
    },
  };
}

/** All keys at once. */
function scan(keyspace: Keyspace, [, ...words]: readonly string[]): Reply {
  let found = keyspace.keys;
  for (let i = 0; i < words.length; i += 2) {
    const [option, value] = [words[i]!.toLowerCase(), words[i + 1] ?? fail(Errors.syntax)];
    if (option === 'match') found = found.filter((key) => patternOf(value).test(key));
    else if (option === 'type') found = found.filter((key) => keyspace.entry(key)?.type === value);
    else if (option !== 'count') fail(Errors.syntax);
  }
  return ['0', found];
}

/** A pattern of Redis as a regular expression: `*`, and a character that is escaped. */
function patternOf(glob: string): RegExp {
  const parts = glob.match(/\\.|\*|[^]/g) ?? [];
  const source = parts.map((part) =>
    part === '*' ? '[^]*' : part.replace(/^\\(?=.)/, '').replace(/[^\w]/, '\\$&'),
  );
  return new RegExp(`^${source.join('')}$`);
}
