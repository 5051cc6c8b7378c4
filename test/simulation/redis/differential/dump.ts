import type { Entry, Keyspace, Type } from '../../../../lib/testing/redis/server/keyspace.js';
import { textOf } from '../../../../lib/testing/redis/server/numbers.js';
import { SortedSet } from '../../../../lib/testing/redis/server/sorted-set.js';

/** A key as a dump has it; its end is in ms since 1970, or -1. */
export type DumpedKey = readonly [key: string, type: Type, end: number, value: readonly string[]];

export function dumpOf(keyspace: Keyspace): DumpedKey[] {
  return keyspace.keys.map((key) => {
    const entry = keyspace.entry(key)!;
    const end = entry.expiresAt === Infinity ? -1 : entry.expiresAt;
    return [key, entry.type, end, partsOf(entry)];
  });
}

function partsOf({ type, value }: Entry): string[] {
  switch (type) {
    case 'string':
      return [value];
    case 'hash':
      return [...value].flat();
    case 'list':
      return value;
    case 'zset':
      return value.slice(0, value.size).flatMap(({ member, score }) => [member, textOf(score)]);
  }
}

/** Gives the keyspace the contents of the dump. */
export function load(keyspace: Keyspace, dump: readonly DumpedKey[]): void {
  keyspace.clear();
  for (const [key, type, end, parts] of dump) {
    const expiresAt = end < 0 ? Infinity : end;
    keyspace.put(key, { type, value: valueOf(type, parts), expiresAt } as Entry);
  }
}

function valueOf(type: Type, parts: readonly string[]): Entry['value'] {
  const pairs = parts.flatMap((part, i) => (i % 2 === 0 ? [[part, parts[i + 1]!] as const] : []));
  switch (type) {
    case 'string':
      return parts[0]!;
    case 'hash':
      return new Map(pairs);
    case 'list':
      return [...parts];
    case 'zset': {
      const set = new SortedSet();
      for (const [member, score] of pairs) set.set(member, numberOf(score));
      return set;
    }
  }
}

function numberOf(score: string): number {
  return score.includes('inf') ? Number(score.replace('inf', 'Infinity')) : Number(score);
}
