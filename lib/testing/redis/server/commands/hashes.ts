import type { Commands } from '../command.js';
import { integerOf, sumOf } from '../numbers.js';
import { fail } from '../reply.js';

/** Commands of hashes. The fields are in the order of their making, as those of a small hash of Redis are. */
export const hashCommands: Commands = {
  hget: {
    arity: 3,
    run: (keyspace, [key, field]) => keyspace.read(key!, 'hash')?.get(field!) ?? null,
  },
  hmget: {
    arity: -3,
    run(keyspace, [key, ...fields]) {
      const hash = keyspace.read(key!, 'hash');
      return fields.map((field) => hash?.get(field) ?? null);
    },
  },
  hgetall: {
    arity: 2,
    run: (keyspace, [key]) => [...(keyspace.read(key!, 'hash') ?? [])].flat(),
  },
  hkeys: { arity: 2, run: (keyspace, [key]) => [...(keyspace.read(key!, 'hash')?.keys() ?? [])] },
  hvals: { arity: 2, run: (keyspace, [key]) => [...(keyspace.read(key!, 'hash')?.values() ?? [])] },
  hlen: { arity: 2, run: (keyspace, [key]) => keyspace.read(key!, 'hash')?.size ?? 0 },
  hexists: {
    arity: 3,
    run: (keyspace, [key, field]) => Number(keyspace.read(key!, 'hash')?.has(field!) ?? false),
  },
  hset: {
    arity: -4,
    effect: 'grow',
    run(keyspace, [key, ...pairs]) {
      if (pairs.length % 2 === 1) fail("ERR wrong number of arguments for 'hset' command");
      const hash = keyspace.require(key!, 'hash');
      const before = hash.size;
      for (let i = 0; i < pairs.length; i += 2) hash.set(pairs[i]!, pairs[i + 1]!);
      return hash.size - before;
    },
  },
  hsetnx: {
    arity: 4,
    effect: 'grow',
    run(keyspace, [key, field, value]) {
      if (keyspace.read(key!, 'hash')?.has(field!)) return 0;
      keyspace.require(key!, 'hash').set(field!, value!);
      return 1;
    },
  },
  hincrby: {
    arity: 4,
    effect: 'grow',
    run(keyspace, [key, field, by]) {
      integerOf(by!);
      const before = keyspace.read(key!, 'hash')?.get(field!) ?? '0';
      integerOf(before, 'ERR hash value is not an integer');
      const sum = sumOf(before, by!, false);
      keyspace.require(key!, 'hash').set(field!, sum);
      return Number(sum);
    },
  },
  hdel: {
    arity: -3,
    effect: 'write',
    run(keyspace, [key, ...fields]) {
      const hash = keyspace.change(key!, 'hash');
      const deleted = fields.filter((field) => hash?.delete(field)).length;
      keyspace.tidy(key!);
      return deleted;
    },
  },
};
