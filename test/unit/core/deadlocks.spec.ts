import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  LockAbortedError,
  LockDeadlockError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import type { Lock } from '../../../lib/core/lock.js';
import type { LockClient } from '../../../lib/core/lock-client.js';
import { Deferred } from '../../support/time.js';
import { seededRandom } from '../../support/seeded-random.js';
import { byTier } from '../../support/tier.js';
import { VirtualWorld } from '../zookeeper/world.js';

/** A circle is reported after a quarter of a second. */
const SOON = 300;

let world: VirtualWorld;
let locks: LockClient;
let warn: ReturnType<typeof spyOnWarnings>;
/** The errors of the events, in their order. */
let reported: LockDeadlockError[];

const spyOnWarnings = () => jest.spyOn(process, 'emitWarning').mockImplementation(() => {});

async function join(options: Parameters<VirtualWorld['join']>[0] = {}): Promise<LockClient> {
  const client = (await world.join(options)).locks;
  client.on('deadlock', ({ error }) => reported.push(error));
  return client;
}

beforeEach(async () => {
  warn = spyOnWarnings();
  reported = [];
  world = new VirtualWorld();
  locks = await join();
});
afterEach(() => warn.mockRestore());

/** Virtual time. */
const pass = (ms: number) =>
  new Promise<void>((resolve) => void world.clock.setTimer(() => resolve(), ms));
const mutex = (key: string, client = locks) => client.mutex(key);

/** Holds the first lock; then, on `goOn`, waits for the others, each inside of the one before. */
function nest(method: string, [outer, ...inner]: readonly Lock[]) {
  const goOn = new Deferred();
  const entered = new Deferred();
  const enter = async ([next, ...rest]: readonly Lock[]): Promise<void> => {
    if (next) await next.using(() => enter(rest), { method });
  };
  const done = outer!.using(
    async () => {
      entered.resolve();
      await goOn.promise;
      await enter(inner);
    },
    { method },
  );
  done.catch(() => {});
  return { entered: entered.promise, goOn: () => goOn.resolve(), done };
}

/** All of them hold their first lock, and then wait for the others in this order. */
async function meet(...callers: ReturnType<typeof nest>[]): Promise<void> {
  for (const { entered } of callers) await world.clock.runUntil(entered);
  for (const { goOn } of callers) {
    goOn();
    await world.clock.advance(1);
  }
}

describe('A circle of acquires that wait for each other', () => {
  it('of two is reported once, with who holds what, by the one that came last', async () => {
    const pay = nest('Orders.pay', [mutex('order'), mutex('stock')]);
    const reserve = nest('Stock.reserve', [mutex('stock'), mutex('order')]);
    await meet(pay, reserve);
    expect(reported).toEqual([]); // it is confirmed first
    await world.clock.advance(SOON);
    expect(reported).toHaveLength(1);
    const [error] = reported;
    expect(error).toBeInstanceOf(LockDeadlockError);
    expect(error).toMatchObject({ code: 'LOCK_DEADLOCK', key: 'order', client: 'unit' });
    expect(error!.circle).toEqual([
      {
        client: 'unit',
        method: 'Stock.reserve',
        holds: 'stock',
        holder: 'Stock.reserve',
        waitsFor: 'order',
      },
      {
        client: 'unit',
        method: 'Orders.pay',
        holds: 'order',
        holder: 'Orders.pay',
        waitsFor: 'stock',
      },
    ]);
    expect(error!.message).toContain(
      'waits in a circle: Stock.reserve holds "stock" and waits for "order"; Orders.pay holds "order" and waits for "stock". ',
    );
    expect(warn.mock.calls).toEqual([[`Deadlock: ${error!.message}`, { code: 'LOCK_DEADLOCK' }]]);
    await world.clock.advance(10_000);
    expect(reported).toHaveLength(1);
  });

  it('is broken where asked: the last one is rejected, and the others go on', async () => {
    locks = await join({ onDeadlock: 'reject' });
    const pay = nest('pay', [mutex('order'), mutex('stock')]);
    const reserve = nest('reserve', [mutex('stock'), mutex('order')]);
    await meet(pay, reserve);
    await expect(world.clock.runUntil(reserve.done)).rejects.toBeInstanceOf(LockDeadlockError);
    await world.clock.runUntil(pay.done);
    expect(locks.activity()).toEqual([]);
  });

  it.each([3, 7])('of %d is found', async (count) => {
    const key = (i: number) => `k${i % count}`;
    const callers = Array.from({ length: count }, (_, i) =>
      nest(`m${i}`, [mutex(key(i)), mutex(key(i + 1))]),
    );
    await meet(...callers);
    await world.clock.advance(SOON);
    expect(reported.map(({ circle }) => circle.map(({ method }) => method))).toEqual([
      [`m${count - 1}`, ...Array.from({ length: count - 1 }, (_, i) => `m${i}`)],
    ]);
  });

  it('is found across clients, and kinds of locks', async () => {
    const other = await join({ name: 'other' });
    const rw = other.readWriteLock('rw');
    const reader = nest('reader', [rw.readLock(), mutex('a')]);
    const writer = nest('writer', [mutex('a'), locks.semaphoreMutex('s'), rw.writeLock()]);
    await meet(reader, writer);
    await world.clock.advance(SOON);
    expect(reported).toHaveLength(1);
    expect(reported[0]!.circle).toEqual([
      { client: 'other', method: 'writer', holds: 'a', holder: 'writer', waitsFor: 'rw' },
      { client: 'unit', method: 'reader', holds: 'rw', holder: 'reader', waitsFor: 'a' },
    ]);
  });

  it('of a caller that waits for itself, by a lock that is not reentrant, is found', async () => {
    const twice = nest('twice', [locks.semaphoreMutex('s'), locks.semaphoreMutex('s')]);
    await meet(twice);
    await world.clock.advance(SOON);
    expect(reported.map(({ circle }) => circle)).toEqual([
      [{ client: 'unit', method: 'twice', holds: 's', holder: 'twice', waitsFor: 's' }],
    ]);
  });

  it('that a lock of several is in is found', async () => {
    const one = nest('one', [mutex('a'), mutex('z')]);
    const all = nest('all', [mutex('z'), locks.multiLock([mutex('a'), mutex('b')])]);
    await meet(one, all);
    await world.clock.advance(SOON);
    expect(reported).toHaveLength(1);
  });

  it('that a multi-lock is in, which has one part and waits for the next, is found', async () => {
    const both = locks.multiLock([mutex('a'), mutex('b')]);
    const one = nest('one', [mutex('b'), mutex('a')]);
    await world.clock.runUntil(one.entered);
    both.using(() => {}, { method: 'both' }).catch(() => {});
    await world.clock.advance(1);
    one.goOn();
    await world.clock.advance(SOON);
    expect(reported.map(({ circle }) => circle)).toEqual([
      [
        { client: 'unit', method: 'one', holds: 'b', holder: 'one', waitsFor: 'a' },
        { client: 'unit', method: 'both', holds: 'a', holder: 'both', waitsFor: 'b' },
      ],
    ]);
  });

  it('is broken where asked with the multi-lock that came last, which leaves nothing behind', async () => {
    locks = await join({ onDeadlock: 'reject' });
    const both = locks.multiLock([mutex('a'), mutex('b')]);
    const one = nest('one', [mutex('b'), mutex('a')]);
    await world.clock.runUntil(one.entered);
    const all = nest('all', [mutex('c'), both]); // inside of another lock, too
    await world.clock.runUntil(all.entered);
    const first = nest('first', [mutex('a')]);
    await world.clock.runUntil(first.entered);
    for (const { goOn } of [all, one, first]) {
      goOn(); // of those that wait for a, the multi-lock was first; so it waits for b last
      await world.clock.advance(1);
    }
    await expect(world.clock.runUntil(all.done)).rejects.toBeInstanceOf(LockDeadlockError);
    await world.clock.runUntil(one.done);
    expect(reported).toHaveLength(1);
    expect(locks.activity()).toEqual([]);
  });

  it('is found where a third one closes it that was granted a lock meanwhile', async () => {
    const first = nest('first', [mutex('a'), mutex('b')]);
    const holder = nest('holder', [mutex('b')]);
    const third = mutex('b').using(() => mutex('a').using(() => {}), { method: 'third' });
    third.catch(() => {});
    await world.clock.runUntil(first.entered);
    await world.clock.advance(100);
    holder.goOn(); // of the two that wait for b, the third was first
    await world.clock.advance(100);
    first.goOn();
    await world.clock.advance(SOON);
    expect(reported).toHaveLength(1);
  });
});

describe('Options of an acquire that are of another object', () => {
  it.each(['mutex', 'semaphore'] as const)('count as its own: the signal of a %s', async (kind) => {
    const lock = kind === 'mutex' ? mutex('a') : locks.semaphore('a', { permits: 1 });
    const held = await world.clock.runUntil(lock.acquire());
    const stop = new AbortController();
    const options = Object.create({ signal: stop.signal }) as { signal: AbortSignal };
    const waiting = world.clock.runUntil(lock.acquire(options));
    stop.abort();
    await expect(waiting).rejects.toBeInstanceOf(LockAbortedError);
    await world.clock.runUntil(held.release());
  });
});

describe('No circle is reported', () => {
  it.each([
    ['locks are taken in one order', ['a', 'b', 'c'], ['a', 'b', 'c'], ['b', 'c']],
    ['a lock is re-entered', ['a', 'a', 'b'], ['b', 'b']],
  ])('where %s', async (_, ...orders) => {
    const callers = orders.map((keys, i) =>
      nest(
        `m${i}`,
        (keys as string[]).map((key) => mutex(key)),
      ),
    );
    for (const { goOn } of callers) goOn();
    await world.clock.runUntil(Promise.all(callers.map(({ done }) => done)));
    expect(reported).toEqual([]);
  });

  it('where the inner work is not awaited, and the outer lock is free soon', async () => {
    const inner: Promise<void>[] = [];
    const detach = (outer: string, other: string) =>
      mutex(outer).using(async () => {
        await pass(10); // both are there
        inner.push(mutex(other).using(() => {}));
        await pass(100);
      });
    await world.clock.runUntil(Promise.all([detach('a', 'b'), detach('b', 'a')]));
    await world.clock.runUntil(Promise.all(inner));
    expect(reported).toEqual([]);
  });

  it('where permits of a semaphore are in between, as others may come free', async () => {
    const permit = () => locks.semaphore('s', { permits: 1 });
    const a = nest('a', [permit(), mutex('m')]);
    const b = nest('b', [mutex('m'), permit()]);
    await meet(a, b);
    await world.clock.advance(SOON);
    expect(reported).toEqual([]);
  });

  it('where one gives up before it is confirmed', async () => {
    const pay = nest('pay', [mutex('order'), mutex('stock')]);
    await world.clock.runUntil(pay.entered);
    const reserve = mutex('stock').using(() => mutex('order').acquire({ wait: 100 }));
    reserve.catch(() => {});
    await world.clock.advance(1);
    pay.goOn();
    await expect(world.clock.runUntil(reserve)).rejects.toBeInstanceOf(LockTimeoutError);
    await world.clock.runUntil(pay.done);
    expect(reported).toEqual([]);
  });

  it('for the same keys of two clients that share nothing', async () => {
    const other = await join({ basePath: '/elsewhere' });
    const mine = nest('mine', [mutex('a'), mutex('b', other)]);
    const theirs = nest('theirs', [mutex('b'), mutex('a', other)]);
    await meet(mine, theirs);
    expect(reported).toEqual([]);
  });

  const ACQUIRES = byTier({ quick: 3_000, standard: 5_000, long: 100_000 });
  it(`in ${ACQUIRES} random acquires, nested in one order`, async () => {
    const random = seededRandom(7);
    let left = ACQUIRES;
    const visit = async (from: number): Promise<void> => {
      const key = from + Math.floor(random() * 4);
      if (key >= 12 || left-- <= 0) return;
      await mutex(`k${key}`).using(async () => {
        if (random() < 0.3) await Promise.all([visit(key + 1), visit(key + 1)]);
        else await visit(key + 1);
      });
    };
    const guest = async () => {
      while (left > 0) await visit(0);
    };
    await world.clock.runUntil(Promise.all(Array.from({ length: 20 }, guest)));
    expect(reported).toEqual([]);
    expect(locks.activity()).toEqual([]);
  }, 120_000);
});
