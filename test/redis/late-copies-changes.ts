import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisServer } from '../support/redis-server.js';

/** A change that counts once. */
export interface Change {
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

export const CHANGES: readonly Change[] = [
  ...named('plain semaphore', PLAIN),
  ...named('semaphore', PERMITS),
  ...named('latch', LATCH),
  ...UNLOCKS,
];
