import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import { ClientLifecycle } from '../../../lib/core/internal/client-lifecycle.js';
import { Hold, type ClientHold } from '../../../lib/core/internal/hold.js';
import { NameMemory } from '../../../lib/core/collections/name-memory.js';
import { OrderedSet } from '../../../lib/core/collections/ordered-set.js';
import { ShardedMap, shardOf } from '../../../lib/core/collections/sharded-map.js';
import type { WaitScope } from '../../../lib/core/internal/wait-scope.js';
import { busiestTurn } from '../../support/turns.js';
import { Deferred } from '../../support/time.js';

describe('A walk through an ordered set', () => {
  const setOf = (...items: string[]) => {
    const set = new OrderedSet<string>();
    const removers = new Map(items.map((item) => [item, set.add(item)]));
    return { set, remove: (item: string) => removers.get(item)!() };
  };

  it('leaves out what is removed before its turn, and goes on behind it', () => {
    const { set, remove } = setOf('a', 'b', 'c', 'd');
    const seen: string[] = [];
    for (const item of set.walk()) {
      seen.push(item);
      if (item === 'a') for (const other of ['b', 'a', 'c']) remove(other);
    }
    expect(seen).toEqual(['a', 'd']);
    expect([...set]).toEqual(['d']);
  });

  it('goes on behind what is shifted away, whose own remover then does nothing', () => {
    const { set, remove } = setOf('a', 'b', 'c');
    const walk = set.walk();
    expect([walk.next().value, set.first]).toEqual(['a', 'a']);
    set.shift();
    set.shift();
    for (const item of ['a', 'b']) remove(item);
    expect([walk.next().value, set.first, set.size]).toEqual(['c', 'c', 1]);
    set.shift();
    set.shift();
    expect([set.first, set.size]).toEqual([undefined, 0]);
  });

  it('ends when the rest is removed, and leaves two walks to themselves', () => {
    const { set, remove } = setOf('a', 'b', 'c');
    const [one, other] = [set.walk(), set.walk()];
    expect([one.next().value, one.next().value, other.next().value]).toEqual(['a', 'b', 'a']);
    for (const item of ['b', 'c']) remove(item);
    expect([one.next().done, other.next().done]).toEqual([true, true]);
  });
});

describe('A memory of names', () => {
  it('keeps the last 10,000, whatever was forgotten in between', () => {
    const memory = new NameMemory<number>();
    for (let i = 0; i < 50_000; i++) {
      memory.set(`name ${i}`, i);
      if (i % 10 === 0) memory.delete(`name ${i}`);
      if (i % 10 === 1) memory.set(`name ${i}`, -i);
    }
    const known = Array.from({ length: 50_000 }, (_, i) => memory.get(`name ${i}`));
    expect(known.filter((value) => value !== undefined)).toHaveLength(10_000);
    expect(known.findIndex((value) => value !== undefined)).toBe(38_889);
    expect([known[49_991], known[49_990], known[49_992]]).toEqual([-49_991, undefined, 49_992]);
  });
});

describe('A sharded map', () => {
  it('finds what it was given, until that is removed', () => {
    const map = new ShardedMap<number>();
    for (let i = 0; i < 1_000; i++) map.set(`name ${i}`, i);
    expect([map.get('name 7'), map.has('name 999'), map.has('name')]).toEqual([7, true, false]);
    for (let i = 0; i < 1_000; i++) map.delete(`name ${i}`);
    expect([map.get('name 7'), map.has('name 999')]).toEqual([undefined, false]);
  });

  it.each([
    ['end in a number', (i: number) => `order:${i}`],
    ['end in a common text', (i: number) => `order:${i}:reservation`],
    ['have a hash tag', (i: number) => `{order:${i}}:line`],
  ])('spreads names that %s', (_, name) => {
    const sizes = new Map<number, number>();
    for (let i = 0; i < 64_000; i++) {
      const shard = shardOf(name(i));
      sizes.set(shard, (sizes.get(shard) ?? 0) + 1);
    }
    expect(sizes.size).toBe(64);
    expect(Math.max(...sizes.values())).toBeLessThan(1_500);
  });
});

describe('A client with 20,000 locks', () => {
  const COUNT = 20_000;

  it('frees a thousand at a time when it closes, and all are lost before the first is free', async () => {
    const holds = new OrderedSet<Hold>();
    let [lost, underWay, most, lostBefore] = [0, 0, 0, 0];
    const freed = new Deferred();
    const backend = {
      isExclusive: () => true,
      fencingToken: () => Promise.resolve(1n),
      lost: () => void (lost += 1),
      free: async () => {
        lostBefore ||= lost;
        most = Math.max(most, (underWay += 1));
        await freed.promise;
        underWay -= 1;
      },
    };
    const events = { isHeard: () => false } as never;
    const client = { clock: systemClock, events, holds: holds as OrderedSet<ClientHold> };
    const identity = { recipe: 'mutex', name: 'a', scope: {} } as const;
    for (let i = 0; i < COUNT; i++)
      new Hold(identity, { key: `${i}`, client: 'c' }, backend, undefined, client);
    const context = {
      client: 'c',
      clock: systemClock,
      accepts: 'all' as const,
      waits: new OrderedSet<WaitScope>(),
      holds,
      candidates: new OrderedSet<never>(),
    };
    const lifecycle = new ClientLifecycle(context, {
      drained: () => Promise.resolve(),
      disconnect: () => {},
    });
    let closed!: Promise<void>;
    const turn = await busiestTurn(
      () => lost,
      async () => {
        closed = lifecycle.close(60_000, 'release');
        while (underWay < 1_000) await new Promise((resolve) => setImmediate(resolve));
      },
    );
    expect([lost, lostBefore, most, turn]).toEqual([COUNT, COUNT, 1_000, 200]);
    freed.resolve();
    await closed;
    expect([holds.size, underWay, most]).toEqual([0, 0, 1_000]);
  });
});
