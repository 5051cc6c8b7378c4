import type { Command, Commands } from '../command.js';
import type { Keyspace } from '../keyspace.js';
import { integerOf } from '../numbers.js';
import { fail, Errors, type Reply, StatusReply } from '../reply.js';

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
  del: {
    arity: -2,
    effect: 'write',
    run: (keyspace, keys) => keys.filter((key) => keyspace.delete(key)).length,
  },
  pttl: {
    arity: 2,
    run: (keyspace, [key]) => ends(keyspace, key!, (end) => end - keyspace.now()),
  },
  pexpiretime: { arity: 2, run: (keyspace, [key]) => ends(keyspace, key!, (end) => end) },
  pexpire: expiring('pexpire', (keyspace) => keyspace.now()),
  pexpireat: expiring('pexpireat', () => 0),
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

function expiring(name: string, start: (keyspace: Keyspace) => number): Command {
  return {
    arity: 3,
    effect: 'write',
    run(keyspace, [key, time]) {
      const number = integerOf(time!);
      if (number > Number.MAX_SAFE_INTEGER) fail(`ERR invalid expire time in '${name}' command`);
      if (keyspace.entry(key!) === undefined) return 0;
      keyspace.expire(key!, start(keyspace) + number);
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
