import { beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { LockAbortedError } from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/time.js';
import type { RedisServer } from '../support/redis-server.js';
import { onLateCopies } from './support/late-copies.js';

/** A change that counts once. */
interface Change {
  readonly name: string;
  /** Sets up the state before the change. */
  prepare?(theirs: RedisLockClient, key: string): Promise<unknown>;
  /** The change of which a copy is late; receives what `prepare` returned. */
  change(mine: RedisLockClient, key: string, prepared: unknown): Promise<unknown>;
  /** What happens before the copy arrives. */
  meanwhile?(others: RedisLockClient, key: string, server: RedisServer): Promise<unknown>;
  look(theirs: RedisLockClient, key: string): Promise<unknown>;
  /** What is seen then, whether or not the copy has arrived. */
  readonly seen: unknown;
}

const deleted: Change['meanwhile'] = (_, key, server) => server.command('DEL', key);

const ofFive: Pick<Change, 'prepare' | 'look'> = {
  prepare: (theirs, key) => theirs.plainSemaphore(key).trySetPermits(5),
  look: (theirs, key) => theirs.plainSemaphore(key).availablePermits(),
};

const PLAIN: readonly Change[] = [
  {
    ...ofFive,
    name: 'release',
    change: (mine, key) => mine.plainSemaphore(key).release(2),
    seen: 7,
  },
  {
    ...ofFive,
    name: 'releaseIfExists',
    change: (mine, key) => mine.plainSemaphore(key).releaseIfExists(2),
    seen: 7,
  },
  {
    ...ofFive,
    name: 'acquire',
    change: (mine, key) => mine.plainSemaphore(key).acquire({ permits: 2 }),
    seen: 3,
  },
  {
    ...ofFive,
    name: 'tryAcquire',
    change: (mine, key) => mine.plainSemaphore(key).tryAcquire({ permits: 2 }),
    seen: 3,
  },
  {
    ...ofFive,
    name: 'addPermits',
    change: (mine, key) => mine.plainSemaphore(key).addPermits(-2),
    seen: 3,
  },
  {
    ...ofFive,
    name: 'drainPermits',
    change: (mine, key) => mine.plainSemaphore(key).drainPermits(),
    meanwhile: (others, key) => others.plainSemaphore(key).release(3),
    seen: 3,
  },
  {
    ...ofFive,
    prepare: undefined,
    name: 'trySetPermits',
    change: (mine, key) => mine.plainSemaphore(key).trySetPermits(5),
    meanwhile: deleted,
    seen: 0,
  },
];

const ofThree: Pick<Change, 'prepare' | 'look'> = {
  prepare: (theirs, key) => theirs.semaphore(key).trySetPermits(3),
  look: (theirs, key) => theirs.semaphore(key).availablePermits(),
};

const PERMITS: readonly Change[] = [
  {
    ...ofThree,
    name: 'addPermits',
    change: (mine, key) => mine.semaphore(key).addPermits(2),
    seen: 5,
  },
  {
    ...ofThree,
    name: 'setPermits',
    change: (mine, key) => mine.semaphore(key).setPermits(7),
    meanwhile: (others, key) => others.semaphore(key).setPermits(4),
    seen: 4,
  },
  {
    ...ofThree,
    prepare: undefined,
    name: 'trySetPermits',
    change: (mine, key) => mine.semaphore(key).trySetPermits(3),
    meanwhile: deleted,
    seen: 0,
  },
  {
    ...ofThree,
    name: 'release by id',
    prepare: async (theirs, key) => {
      await theirs.semaphore(key).trySetPermits(3);
      return (await theirs.semaphore(key).acquire({ permits: 2 })).permitIds;
    },
    change: (mine, key, ids) => mine.semaphore(key).release(ids as readonly string[]),
    seen: 3,
  },
];

const closed: Pick<Change, 'prepare' | 'look'> = {
  prepare: (theirs, key) => theirs.countDownLatch(key).trySetCount(3),
  look: (theirs, key) => theirs.countDownLatch(key).getCount(),
};

const LATCH: readonly Change[] = [
  {
    ...closed,
    name: 'countDown',
    change: (mine, key) => mine.countDownLatch(key).countDown(),
    seen: 2,
  },
  {
    ...closed,
    prepare: undefined,
    name: 'trySetCount',
    change: (mine, key) => mine.countDownLatch(key).trySetCount(1),
    meanwhile: (others, key) => others.countDownLatch(key).countDown(),
    seen: 0,
  },
  {
    ...closed,
    name: 'delete',
    change: (mine, key) => mine.countDownLatch(key).delete(),
    meanwhile: (others, key) => others.countDownLatch(key).trySetCount(2),
    seen: 2,
  },
];

const HELD = { lease: 60_000 };

/** Locks that are taken by force from their holder, and granted to another one. */
const UNLOCKS: readonly Change[] = [
  {
    name: 'forceUnlock of a mutex',
    prepare: (theirs, key) => theirs.mutex(key).acquire(HELD),
    change: (mine, key) => mine.mutex(key).forceUnlock(),
    meanwhile: (others, key) => others.mutex(key).acquire(HELD),
    look: (theirs, key) => theirs.mutex(key).isLocked(),
    seen: true,
  },
  ...(['read', 'write'] as const).map<Change>((mode) => ({
    name: `forceUnlock of a ${mode} lock`,
    prepare: (theirs, key) => theirs.readWriteLock(key)[`${mode}Lock`]().acquire(HELD),
    change: (mine, key) => mine.readWriteLock(key).forceUnlock(mode),
    meanwhile: (others, key) => others.readWriteLock(key)[`${mode}Lock`]().acquire(HELD),
    look: async (theirs, key) => (await theirs.readWriteLock(key).holders()).length,
    seen: 1,
  })),
];

const named = (what: string, changes: readonly Change[]): Change[] =>
  changes.map((change) => ({ ...change, name: `${change.name} of a ${what}` }));

const CHANGES: readonly Change[] = [
  ...named('plain semaphore', PLAIN),
  ...named('semaphore', PERMITS),
  ...named('latch', LATCH),
  ...UNLOCKS,
];

describe('A late copy does not count:', () => {
  const stage = onLateCopies();

  describe.each([
    ['that was held up', 'late'],
    ['that was carried out before, but not answered', 'unanswered'],
    ['that was answered before', 'replayed'],
  ] as const)('a copy %s,', (_, way) => {
    it.each(CHANGES)('of $name', async ({ prepare, change, meanwhile, look, seen }) => {
      const { mine, theirs, key, server } = stage();
      const others = await stage().client(server.port);
      const warm = randomUUID(); // from here on the server knows the scripts
      await change(mine, warm, await prepare?.(mine, warm));

      const prepared = await prepare?.(theirs, key);
      const [, copy] = await stage()[way](() => change(mine, key, prepared));
      await meanwhile?.(others, key, server);
      expect(await look(theirs, key)).toBe(seen);
      await stage().arrive(copy);
      expect(await look(theirs, key)).toBe(seen);
    });
  });

  describe('of an acquire of a plain semaphore', () => {
    const free = () => stage().server.command('GET', stage().key);

    beforeEach(async () => {
      const { mine, key } = stage();
      await mine.plainSemaphore(randomUUID()).tryAcquire(); // from here on the server knows the script
      await mine.plainSemaphore(key).trySetPermits(3);
    });

    it('that was aborted meanwhile', async () => {
      const { mine, key, proxy } = stage();
      const copy = proxy.strand(stage().isScript);
      const abort = new AbortController();
      const acquired = mine.plainSemaphore(key).acquire({ permits: 2, signal: abort.signal });
      const aborted = expect(acquired).rejects.toBeInstanceOf(LockAbortedError);
      await eventually('it is under way', () => copy.count);
      abort.abort();
      await aborted;
      copy.giveUp();
      await mine.close();
      expect(await free()).toBe('3');
      await stage().arrive(copy);
      expect(await free()).toBe('3');
    });

    it('that was aborted once it had its permits', async () => {
      const { mine, key, proxy } = stage();
      const copy = proxy.replay(stage().isScript);
      proxy.holdReplies();
      const abort = new AbortController();
      const acquired = mine.plainSemaphore(key).acquire({ permits: 2, signal: abort.signal });
      const aborted = expect(acquired).rejects.toBeInstanceOf(LockAbortedError);
      await eventually('they are taken', async () => (await free()) === '1');
      abort.abort();
      await aborted;
      proxy.resume();
      await eventually('they are back', async () => (await free()) === '3');
      await stage().arrive(copy);
      expect(await free()).toBe('3');
    });

    it('of which the release was sent twice', async () => {
      const { mine, key, proxy } = stage();
      proxy.holdReplies();
      const abort = new AbortController();
      const acquired = mine.plainSemaphore(key).acquire({ permits: 2, signal: abort.signal });
      const aborted = expect(acquired).rejects.toBeInstanceOf(LockAbortedError);
      await eventually('they are taken', async () => (await free()) === '1');
      abort.abort();
      await aborted;
      const copy = proxy.strand(stage().isScript);
      proxy.resume();
      await eventually('it is released', () => copy.count);
      copy.giveUp();
      await eventually('they are back', async () => (await free()) === '3');
      await stage().arrive(copy);
      expect(await free()).toBe('3');
    });
  });

  it('of a change that precedes many others of that client', async () => {
    const { mine, theirs, key } = stage();
    const semaphore = mine.plainSemaphore(key);
    await semaphore.trySetPermits(5);
    await semaphore.release();
    const [, copy] = await stage().late(() => semaphore.release());
    for (let n = 0; n < 50; n++) await semaphore.using(() => {});
    await stage().arrive(copy);
    expect(await theirs.plainSemaphore(key).availablePermits()).toBe(7);
  });
});

/** An answer has to be remembered for longer than any copy can be under way. */
const LONG_ENOUGH = 15 * 60_000;
/** Number of requests of which the answers may be kept for a client that has none under way. */
const FEW = 5;

const COUNTED = CHANGES.filter(({ name }) => !name.startsWith('forceUnlock'));

describe('What the server remembers of a change that counts once', () => {
  const stage = onLateCopies();

  describe.each([
    ['did not arrive before it was sent again', 'late'],
    ['was not answered before it was sent again', 'unanswered'],
  ] as const)('that %s', (_, way) => {
    it.each(COUNTED)('outlives every copy: $name', async ({ prepare, change }) => {
      const { mine, theirs, key, server } = stage();
      const warm = randomUUID(); // from here on the server knows the scripts
      await change(mine, warm, await prepare?.(mine, warm));
      const prepared = await prepare?.(theirs, key);
      await stage()[way](() => change(mine, key, prepared));
      await mine.close();

      const left = await Promise.all((await answers()).map((name) => server.command('PTTL', name)));
      expect(Math.max(...(left as number[]))).toBeGreaterThan(LONG_ENOUGH);
    });
  });

  it('does not grow with each change', async () => {
    const { mine, key } = stage();
    const semaphore = mine.plainSemaphore(key);
    const latch = mine.countDownLatch(`${key} latch`);
    const permits = mine.semaphore(`${key} permits`);
    await latch.trySetCount(100);
    await permits.trySetPermits(1);
    for (let n = 0; n < 20; n++)
      await Promise.all([semaphore.release(), latch.countDown(), permits.addPermits(1)]);
    await Promise.all(Array.from({ length: 20 }, () => semaphore.tryAcquire()));
    await semaphore.release(); // with it the server learns that the answers to all others have arrived
    await semaphore.tryAcquire();
    await eventually('few answers are left', async () => (await kept()) <= 3 * FEW);
    expect(await semaphore.availablePermits()).toBe(0);
  });

  it('does not grow with each change while others wait', async () => {
    const { mine, key } = stage();
    const semaphore = mine.plainSemaphore(key);
    const abort = new AbortController();
    const waits = [1, 2, 3].map(() => semaphore.acquire({ permits: 50, signal: abort.signal }));
    const ends = Promise.allSettled(waits);
    const { proxy, isScript } = stage();
    await eventually('all have asked', () => proxy.commands.filter(isScript).length >= 3);
    for (let n = 0; n < 20; n++) {
      await semaphore.release();
      await semaphore.tryAcquire();
    }
    expect(await kept()).toBeLessThanOrEqual(FEW);
    abort.abort();
    await ends;
  });

  it('expires by itself', async () => {
    const { mine, key, server } = stage();
    await mine.plainSemaphore(key).release();
    await stage().late(() => mine.plainSemaphore(key).release());
    await stage().late(() => mine.countDownLatch(`${key} latch`).trySetCount(1));
    for (const name of await answers())
      expect(await server.command('PTTL', name)).toBeGreaterThan(0);
  });

  const answers = async () =>
    (await stage().keys()).filter((name) => /^interlock_requests?:/.test(name));

  /** How many answers are kept, each in a key or in a field of one. */
  async function kept(): Promise<number> {
    const { server } = stage();
    const sizes = (await answers()).map(async (name) => {
      const isHash = (await server.command('TYPE', name)) === 'hash';
      return isHash ? Number(await server.command('HLEN', name)) : 1;
    });
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  }
});
