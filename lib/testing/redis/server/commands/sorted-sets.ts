import type { Command, Commands } from '../command.js';
import type { Keyspace } from '../keyspace.js';
import { boundOf, integerOf, rangeOf, textOf } from '../numbers.js';
import { Errors, fail, type Reply } from '../reply.js';
import { SortedSet } from '../sorted-set.js';
import { zadd } from './zadd.js';

const NONE: SortedSet = new SortedSet();

/** Commands of sorted sets. */
export const sortedSetCommands: Commands = {
  zadd,
  zincrby: {
    arity: 4,
    effect: 'grow',
    run: (keyspace, [key, by, member]) => zadd.run(keyspace, [key!, 'incr', by!, member!]),
  },
  zcard: { arity: 2, run: (keyspace, [key]) => keyspace.read(key!, 'zset')?.size ?? 0 },
  zscore: {
    arity: 3,
    run(keyspace, [key, member]) {
      const score = keyspace.read(key!, 'zset')?.score(member!);
      return score === undefined ? null : textOf(score);
    },
  },
  zmscore: {
    arity: -3,
    run(keyspace, [key, ...members]) {
      const set = keyspace.read(key!, 'zset');
      const scores = members.map((member) => set?.score(member));
      return scores.map((score) => (score === undefined ? null : textOf(score)));
    },
  },
  zcount: {
    arity: 4,
    run(keyspace, [key, low, high]) {
      const bounds = [boundOf(low!), boundOf(high!)] as const;
      return (keyspace.read(key!, 'zset') ?? NONE).between(...bounds).length;
    },
  },
  zrank: {
    arity: 3,
    run: (keyspace, [key, member]) => keyspace.read(key!, 'zset')?.rank(member!) ?? null,
  },
  zpopmin: popping(0),
  zpopmax: popping(-1),
  zrange: byIndex(false),
  zrevrange: byIndex(true),
  zrangebyscore: {
    arity: -4,
    run(keyspace, [key, low, high, ...words]) {
      const { withScores, offset, count } = rangeOptions(words);
      const bounds = [boundOf(low!), boundOf(high!)] as const;
      const found = (keyspace.read(key!, 'zset') ?? NONE).between(...bounds);
      const from = offset < 0 ? found.length : offset;
      return listed(found.slice(from, count < 0 ? undefined : from + count), withScores);
    },
  },
  zrem: {
    arity: -3,
    effect: 'write',
    run(keyspace, [key, ...members]) {
      const set = keyspace.change(key!, 'zset');
      const removed = members.filter((member) => set?.delete(member)).length;
      keyspace.tidy(key!);
      return removed;
    },
  },
  zremrangebyscore: {
    arity: 4,
    effect: 'write',
    run(keyspace, [key, low, high]) {
      const bounds = [boundOf(low!), boundOf(high!)] as const;
      return removed(keyspace, key!, (set) => set.between(...bounds));
    },
  },
  zremrangebyrank: {
    arity: 4,
    effect: 'write',
    run(keyspace, [key, first, last]) {
      const [from, to] = [integerOf(first!), integerOf(last!)];
      return removed(keyspace, key!, (set) => set.slice(...rangeOf(from, to, set.size)));
    },
  },
};

/** Removes what is found, and returns how many they were. */
function removed(keyspace: Keyspace, key: string, find: (set: SortedSet) => Listed): number {
  const set = keyspace.change(key, 'zset') ?? NONE;
  const found = find(set);
  for (const { member } of found) set.delete(member);
  keyspace.tidy(key);
  return found.length;
}

/** @param at place in the order of the scores */
function popping(at: number): Command {
  return {
    arity: 2,
    effect: 'write',
    run(keyspace, [key]) {
      const set = keyspace.change(key!, 'zset') ?? NONE;
      const found = set.slice(0, set.size).at(at);
      if (found === undefined) return [];
      set.delete(found.member);
      keyspace.tidy(key!);
      return listed([found], true);
    },
  };
}

function byIndex(isReversed: boolean): Command {
  return {
    arity: -4,
    run(keyspace, [key, first, last, ...words]) {
      const withScores = words[0]?.toLowerCase() === 'withscores';
      if (words.length > Number(withScores)) fail(Errors.syntax);
      const [from, to] = [integerOf(first!), integerOf(last!)];
      const set = keyspace.read(key!, 'zset') ?? NONE;
      const all = set.slice(0, set.size);
      const ordered = isReversed ? all.toReversed() : all;
      return listed(ordered.slice(...rangeOf(from, to, set.size)), withScores);
    },
  };
}

function rangeOptions(words: readonly string[]) {
  let withScores = false;
  let [offset, count] = [0, -1];
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!.toLowerCase();
    if (word === 'withscores') withScores = true;
    else if (word === 'limit' && i + 2 < words.length)
      [offset, count] = [integerOf(words[++i]!), integerOf(words[++i]!)];
    else fail(Errors.syntax);
  }
  return { withScores, offset, count };
}

type Listed = ReturnType<SortedSet['slice']>;

function listed(found: Listed, withScores: boolean): Reply {
  if (!withScores) return found.map(({ member }) => member);
  return found.flatMap(({ member, score }) => [member, textOf(score)]);
}
