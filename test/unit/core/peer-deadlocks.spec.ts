import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type LockDeadlockError, LockTimeoutError } from '../../../lib/core/errors/index.js';
import type { Lock } from '../../../lib/core/lock.js';
import { LOCK_INSPECTION } from '../../../lib/core/lock-inspection.js';
import type { MakeReport, PeerAnswers, PeerReports } from '../../../lib/core/peer-reports.js';
import type { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { seededRandom } from '../../support/seeded-random.js';
import { byTier } from '../../support/tier.js';
import { Deferred } from '../../support/time.js';
import { VirtualWorld } from '../zookeeper/world.js';

/** Within this time after the last acquire of a circle began to wait, it is named, in ms. */
const NAMED_WITHIN = 3_000;

/** The exchange of some clients, in the hands of the test. Answers take 10 ms. */
class Wire {
  readonly listeners = new Set<PeerReports>();
  asked = 0;
  /** What others have written there: the question counts from 1. */
  extra: (question: number) => readonly string[] = () => [];
  /** What happens to the next questions. */
  mood: 'answer' | 'refuse' | 'hang' = 'answer';

  exchange(): PeerReports {
    let report: MakeReport | undefined;
    const own: PeerReports & { text(): Promise<string> } = {
      answer: (given) => {
        report = given;
        this.listeners.add(own);
      },
      text: async () => report!(65_536),
      ask: async (timeout): Promise<PeerAnswers> => {
        const question = (this.asked += 1);
        expect(timeout).toBeLessThanOrEqual(2_000);
        if (this.mood === 'hang') await new Deferred().promise;
        await pass(10);
        if (this.mood === 'refuse') throw new Error('NOPERM');
        const others = [...this.listeners].filter((each) => each !== own) as (typeof own)[];
        const reports = await Promise.all(others.map((each) => each.text()));
        return { reports: [...reports, ...this.extra(question)], unread: 0 };
      },
      close: async () => void this.listeners.delete(own),
    };
    return own;
  }
}

let world: VirtualWorld;
let wire: Wire;
/** How far the clock of the host is ahead, in ms. */
let skew: number;
/** The events, in their order, with the number of the client. */
let reported: { readonly by: number; readonly error: LockDeadlockError; readonly at: number }[];
let joined: ZooKeeperLockClient[];

beforeEach(() => {
  world = new VirtualWorld();
  wire = new Wire();
  [skew, reported, joined] = [0, [], []];
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  jest.spyOn(Date, 'now').mockImplementation(() => 1.7e12 + world.clock.now() + skew);
});
afterEach(async () => {
  await world.clock.runUntil(Promise.all(joined.map((each) => each.close())));
  const { asked } = wire;
  await world.clock.advance(120_000);
  expect([wire.listeners.size, wire.asked]).toEqual([0, asked]);
  jest.restoreAllMocks();
});

/** A client as of another process. */
async function join(options: Parameters<VirtualWorld['join']>[0] = {}) {
  const { locks } = await world.join(options);
  jest.spyOn(locks[LOCK_INSPECTION], 'exchange').mockImplementation(() => wire.exchange());
  const by = joined.push(locks) - 1;
  locks.on('deadlock', ({ error }) => reported.push({ by, error, at: world.clock.now() }));
  return locks;
}

/** Virtual time. */
const pass = (ms: number) =>
  new Promise<void>((resolve) => void world.clock.setTimer(() => resolve(), ms));

/** Holds the first lock; then, on `goOn`, waits for the other inside of it. */
function nest(method: string, outer: Lock, inner: Lock, wait: number | 'forever' = 'forever') {
  const goOn = new Deferred();
  const entered = new Deferred();
  const done = outer.using(
    async () => {
      entered.resolve();
      await goOn.promise;
      await inner.using(() => {}, { method, wait });
    },
    { method },
  );
  done.catch(() => {});
  return { entered: entered.promise, goOn: () => goOn.resolve(), done };
}

/** All of them hold their first lock, and then begin to wait, so many ms apart. */
async function meet(callers: readonly ReturnType<typeof nest>[], apart = 1): Promise<number> {
  for (const { entered } of callers) await world.clock.runUntil(entered);
  let last = 0;
  for (const { goOn } of callers) {
    last = world.clock.now();
    goOn();
    await world.clock.advance(apart);
  }
  return last;
}

/** A ring of so many clients, each with one lock. */
async function ring(count: number, options: Parameters<typeof join>[0] = {}) {
  const key = (i: number) => `k${i % count}`;
  const clients: ZooKeeperLockClient[] = [];
  for (let i = 0; i < count; i++) clients.push(await join({ name: `c${i}`, ...options }));
  return clients.map((locks, i) => nest(`m${i}`, locks.mutex(key(i)), locks.mutex(key(i + 1))));
}

describe('A circle of acquires of several processes', () => {
  it.each([
    [2, 1],
    [3, 1],
    [3, 0],
    [3, 400],
    [7, 1_100],
    [3, 1_100],
    [7, 400],
  ])(
    'of %d that begin %d ms apart is named within 3 s, once, by the youngest',
    async (count, apart) => {
      const callers = await ring(count);
      const closed = await meet(callers, apart);
      await world.clock.advance(NAMED_WITHIN);
      expect(reported).toHaveLength(1);
      const [{ error, by, at }] = reported as [(typeof reported)[0]];
      expect(at - closed).toBeLessThan(NAMED_WITHIN);
      if (apart > 0) expect(by).toBe(count - 1);
      const inTurn = Array.from({ length: count }, (_, i) => (by + i) % count);
      expect(error.circle).toEqual(
        inTurn.map((i) => ({
          ...{ client: `c${i}`, method: `m${i}`, holder: `m${i}` },
          ...{ holds: `k${i}`, waitsFor: `k${(i + 1) % count}` },
        })),
      );
      expect(error).toMatchObject({ client: `c${by}`, key: `k${(by + 1) % count}` });
      expect(process.emitWarning).toHaveBeenCalledWith(`Deadlock: ${error.message}`, {
        code: 'LOCK_DEADLOCK',
      });
      await world.clock.advance(60_000);
      expect(reported).toHaveLength(1);
    },
  );

  it('is broken where asked: the youngest is rejected, and the others go on', async () => {
    const callers = await ring(3, { onDeadlock: 'reject' });
    await meet(callers);
    const [first, second, last] = callers;
    await expect(world.clock.runUntil(last!.done)).rejects.toMatchObject({ code: 'LOCK_DEADLOCK' });
    await world.clock.runUntil(Promise.all([first!.done, second!.done]));
    expect(reported).toHaveLength(1);
  });

  it('is named within 3 s by the one that seems the youngest, where clocks of hosts differ', async () => {
    const callers = await ring(3);
    for (const { entered } of callers) await world.clock.runUntil(entered);
    for (const [i, { goOn }] of callers.entries()) {
      skew = [0, 900, -900][i]!; // the last one seems to be the first
      goOn();
      await world.clock.advance(300);
    }
    await world.clock.advance(NAMED_WITHIN - 300);
    expect(reported.map(({ by }) => by)).toEqual([1]);
  });

  it('is found when the servers answer again', async () => {
    const callers = await ring(2);
    wire.mood = 'hang';
    await meet(callers);
    await world.clock.advance(5_000);
    wire.mood = 'refuse';
    await world.clock.advance(5_000);
    expect(reported).toEqual([]);
    expect(wire.listeners.size).toBeLessThanOrEqual(2);
    wire.mood = 'answer';
    await world.clock.advance(60_000);
    expect(reported).toHaveLength(1);
  });

  it('within one client is reported by itself only, at once', async () => {
    const locks = await join();
    const callers = [
      nest('pay', locks.mutex('a'), locks.mutex('b')),
      nest('book', locks.mutex('b'), locks.mutex('a')),
    ];
    await meet(callers);
    await world.clock.advance(500);
    expect(reported).toHaveLength(1);
    await world.clock.advance(30_000);
    expect(wire.asked).toBeGreaterThan(0);
    expect(reported).toHaveLength(1);
  });
});

describe('A wait inside of a lock', () => {
  let locks: ZooKeeperLockClient;
  let other: ZooKeeperLockClient;
  beforeEach(async () => {
    locks = await join();
    other = await join({ name: 'other' });
  });

  /** Holds `b`, and lets others wait for it. */
  async function holdB(): Promise<() => Promise<void>> {
    const lease = await world.clock.runUntil(other.mutex('b').acquire());
    return () => world.clock.runUntil(lease.release());
  }

  /** It holds `a` and waits for `b`, which another client holds. */
  async function waitInside(wait: number | 'forever' = 'forever') {
    const release = await holdB();
    const caller = nest('pay', locks.mutex('a'), locks.mutex('b'), wait);
    await meet([caller]);
    return { release, caller };
  }

  /** The report of a process with one old wait, for `a` inside of `b`. */
  const foreign = (change: object = {}, wait: object = {}) =>
    JSON.stringify({
      ...{ host: 'web-2', pid: 71, client: 'theirs', ...change },
      waits: [
        {
          ...{ id: 'x', since: 5, method: 'Stock.reserve', waitsFor: ['/locks/a'] },
          inside: [{ name: '/locks/b', holder: 'Stock.count' }],
          ...wait,
        },
      ],
    });

  it('asks nothing in its first second, nor does one outside of locks', async () => {
    const { release, caller } = await waitInside();
    const outside = other.mutex('a').using(() => {});
    await world.clock.advance(990);
    expect([wire.asked, wire.listeners.size]).toEqual([0, 0]);
    await world.clock.advance(20);
    expect([wire.asked, wire.listeners.size]).toEqual([1, 1]);
    await release();
    await world.clock.runUntil(Promise.all([caller.done, outside]));
  });

  it('lets its client leave the exchange some time after it has ended', async () => {
    const { release, caller } = await waitInside();
    await world.clock.advance(20_000);
    const { asked } = wire;
    expect(asked).toBeLessThan(10); // at growing distances
    await release();
    await world.clock.runUntil(caller.done);
    await world.clock.advance(45_000);
    expect(wire.listeners.size).toBe(0);
    await world.clock.advance(600_000);
    expect(wire.asked).toBe(asked);
  });

  it('in a circle with one of another host is named with host and process', async () => {
    wire.extra = () => [foreign()];
    await waitInside();
    await world.clock.advance(NAMED_WITHIN);
    expect(reported.map(({ error }) => error.circle)).toEqual([
      [
        { client: 'unit', method: 'pay', holds: 'a', holder: 'pay', waitsFor: 'b' },
        {
          ...{ client: 'theirs', host: 'web-2', pid: 71, method: 'Stock.reserve' },
          ...{ holds: 'b', holder: 'Stock.count', waitsFor: 'a' },
        },
      ],
    ]);
    await world.clock.advance(60_000);
    expect([reported.length, wire.asked]).toEqual([1, 2]); // it asks no more
    expect(reported[0]!.error.message).toContain(
      'Stock.reserve (process 71 on web-2) waits for "a" inside of Stock.count, which holds "b"',
    );
  });

  it.each([
    ['is gone at the second look', (n: number) => (n % 2 === 1 ? [foreign()] : [])],
    ['consists of other waits each time', (n: number) => [foreign({}, { id: `x${n}` })]],
    ['has a younger wait, which reports it', () => [foreign({}, { since: 2e12 })]],
    ['holds another lock', () => [foreign({}, { inside: [{ name: '/locks/c' }] })]],
    ['waits for another lock', () => [foreign({}, { waitsFor: ['/locks/c', '/locks/b'] })]],
    ['is in no report that makes sense', () => [foreign({}, { id: 7 }), '{}', '[]', 'x', '']],
  ])('is not reported, if its circle %s', async (_, extra) => {
    wire.extra = extra;
    await waitInside();
    await world.clock.advance(60_000);
    expect(wire.asked).toBeGreaterThan(4);
    expect(reported).toEqual([]);
  });

  it('is not reported when it has ended before the second look', async () => {
    wire.extra = () => [foreign()];
    const { caller } = await waitInside(1_100);
    await expect(world.clock.runUntil(caller.done)).rejects.toBeInstanceOf(LockTimeoutError);
    await world.clock.advance(10_000);
    expect(reported).toEqual([]);
  });

  it.each([
    [1_005, 'in the first question'],
    [1_100, 'in the pause'],
    [1_265, 'in the second question'],
  ])('is not reported when its client closes after %d ms, %s', async (ms) => {
    wire.extra = () => [foreign()];
    const { caller } = await waitInside();
    await world.clock.advance(ms);
    const { asked } = wire;
    expect(reported).toEqual([]);
    await world.clock.runUntil(locks.close());
    await expect(caller.done).rejects.toMatchObject({ code: 'LOCK_CLIENT_CLOSED' });
    await world.clock.advance(60_000);
    expect(reported).toEqual([]);
    expect(wire.asked).toBe(asked);
  });

  it('is granted as ever when questions are refused, and none is open then', async () => {
    wire.mood = 'refuse';
    const { release, caller } = await waitInside();
    await world.clock.advance(120_000);
    expect(wire.asked).toBeLessThan(20);
    expect(wire.listeners.size).toBe(0);
    await release();
    await world.clock.runUntil(caller.done);
    expect(process.emitWarning).not.toHaveBeenCalled();
  });
});

describe('A circle with a multi-lock of another process', () => {
  it('is named by the lock around it, however many parts it has already', async () => {
    const [one, other] = [await join({ name: 'one' }), await join({ name: 'other' })];
    const parts = Array.from({ length: 150 }, (_, i) => one.mutex(`part ${1_000 + i}`));
    const many = nest('many', one.mutex('outer'), one.multiLock([...parts, one.mutex('z')]));
    const held = nest('held', other.mutex('z'), other.mutex('outer'));
    await meet([many, held], 100);
    await world.clock.advance(NAMED_WITHIN);
    expect(reported).toHaveLength(1);
  });
});

describe('No circle is reported', () => {
  const ACQUIRES = byTier({ quick: 2_000, standard: 3_000, long: 100_000 });
  it(`in ${ACQUIRES} random acquires of five processes, nested in one order`, async () => {
    const random = seededRandom(7);
    const clients: ZooKeeperLockClient[] = [];
    for (let i = 0; i < 5; i++) clients.push(await join({ name: `c${i}` }));
    let left = ACQUIRES;
    const visit = async (locks: ZooKeeperLockClient, from: number): Promise<void> => {
      const key = from + Math.floor(random() * 4);
      if (key >= 12 || left-- <= 0) return;
      await locks.mutex(`k${key}`).using(async () => {
        await pass(random() * 400); // long enough for many waits to last longer than a second
        if (random() < 0.3) await Promise.all([visit(locks, key + 1), visit(locks, key + 1)]);
        else await visit(locks, key + 1);
      });
    };
    const guest = async (locks: ZooKeeperLockClient) => {
      while (left > 0) await visit(locks, 0);
    };
    const guests = clients.flatMap((locks) => Array.from({ length: 4 }, () => guest(locks)));
    await world.clock.runUntil(Promise.all(guests));
    expect(wire.asked).toBeGreaterThan(ACQUIRES / 100); // the search had something to look at
    expect(reported).toEqual([]);
  }, 120_000);
});
