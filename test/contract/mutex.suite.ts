import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import {
  LockClientClosedError,
  LockLostError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { byTier } from '../support/tier.js';
import { eventually } from '../support/time.js';
import {
  contendersBecome,
  expectReleased,
  type Deployment,
  type LockStage,
  onStage,
  type StageClient,
} from './backends/stage.js';
import {
  type Backend,
  handedOnRecipe,
  keptRecipe,
  semaphoreMutexRecipe,
  Stage,
} from './backends/zookeeper.js';
import { handOffSuite } from './hand-off.suite.js';
import { keptLockSuite } from './kept-lock.suite.js';
import { deadlockSuite, peerDeadlockSuite } from './deadlock.suite.js';
import { lockOptionsSuite, lockWaitSuite } from './lock-waits.suite.js';
import {
  mutexEventsSuite,
  mutexLeaseSuite,
  mutexLossSuite,
  mutexNonReentrantSuite,
  mutexReentrySuite,
} from './mutex-lease.suite.js';
import { mutexRequestsSuite, mutexZnodesSuite } from './mutex-znodes.suite.js';
import { type ShownOfOthers, timeOutHolderSuite } from './time-out-holder.suite.js';

/**
 * Everything that a mutex promises on ZooKeeper. It contains the cases of Curator's TestInterProcessMutexBase and
 * TestInterProcessMutex, each named where it stands. Revocation (testRevoking) has a suite of its own; drivers of the user's
 * (testPersistentLock) and path schemas (testWithSchema) we do not have.
 */
export function mutexSuite(on: Deployment<Backend>): void {
  describe(`A mutex on ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend()));
    everyMutexSuite(on, stage);
    on.part('the znodes', 'server', () => mutexZnodesSuite(stage));
    on.part('its requests', 'server', () => mutexRequestsSuite(stage));
  });
}

/**
 * Everything that a mutex promises that is handed on from caller to caller, and kept while there is none, but for the order
 * across processes.
 */
export function handedOnMutexSuite(on: Deployment<Backend>): void {
  const traits = { isFair: false, isVariant: true, isHandedOn: true };

  describe(`A mutex that is handed on, on ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend(), handedOnRecipe));
    everyMutexSuite(on, stage, traits);
    handOffSuite(on.name, stage);
  });

  describe(`A mutex that is kept, on ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend(), keptRecipe));
    everyMutexSuite(on, stage, traits);
    keptLockSuite(on.name, stage);
  });
}

/**
 * Everything that a semaphore mutex promises on ZooKeeper: what every mutex does, but for re-entry. As in Curator, where
 * TestInterProcessSemaphoreMutex runs TestInterProcessMutexBase without its tests of re-entry.
 */
export function semaphoreMutexSuite(on: Deployment<Backend>): void {
  describe(`A semaphore mutex on ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend(), semaphoreMutexRecipe));
    everyMutexSuite(on, stage, { isReentrant: false, isVariant: true, shown: 'nothing' });
    on.part('its requests', 'server', () => mutexRequestsSuite(stage));

    it('is, on the servers, a semaphore of one permit', async () => {
      const { mine, theirs, key, path } = stage();
      const mutex = mine.locks.semaphoreMutex(key);
      const lease = await mutex.acquire();
      const semaphore = theirs.locks.semaphore(key, { permits: 1 });
      expect(await semaphore.tryAcquire()).toBeUndefined();
      await stage().caughtUp(mine);
      expect(await mutex.participants()).toEqual(await stage().queueIn(`${path}/leases`));
      expect(await semaphore.participants()).toEqual(await mutex.participants());
      await lease.release();
      await using next = await semaphore.acquire();
      expect(next.isHeld).toBe(true);
      expect(await mutex.tryAcquire()).toBeUndefined();
    });
  });
}

/** What tells one mutex from another. */
export interface MutexTraits {
  /** Is there one queue for all clients? Else there is one for each. Default true. */
  readonly isFair?: boolean;
  /** Default true. */
  readonly isReentrant?: boolean;
  /** Has it parts, which are what is reported? Default false. */
  readonly isMulti?: boolean;
  /** Has its client a simpler mutex too? What servers do that go away, does not depend on which of the two is held. Default false. */
  readonly isVariant?: boolean;
  /** Is it handed on within a client? Default false. */
  readonly isHandedOn?: boolean;
  /** What is a time-out told of a holder of another client? Default: its node. */
  readonly shown?: ShownOfOthers;
}

/** What every mutex promises, whatever servers it stands on. */
export function everyMutexSuite<B>(
  on: Deployment<B>,
  stage: () => LockStage,
  traits: MutexTraits = {},
): void {
  const { isFair = true, isReentrant = true, isMulti = false, isVariant = false } = traits;
  const { shown = 'its node', isHandedOn } = traits;
  const waitedFor = { wanted: (client: StageClient) => client.lock(stage().key) };
  on.part('exclusion', 'deployment', () => mutexExclusionSuite(stage, isFair));
  on.part('re-entry', 'client', () =>
    isReentrant ? mutexReentrySuite(stage) : mutexNonReentrantSuite(stage),
  );
  on.part('waiting', 'server', () => lockWaitSuite(stage, waitedFor));
  on.part('a time-out', 'server', () =>
    timeOutHolderSuite(stage, { ...waitedFor, shown, isHandedOn }),
  );
  on.part('bad options', 'client', () => lockOptionsSuite(stage, waitedFor));
  if (!isVariant && !isMulti) {
    on.part('in a circle', 'server', () => deadlockSuite(stage));
    on.part('in a circle with other processes', 'deployment', () => peerDeadlockSuite(stage));
  }
  on.part('the lease', 'server', () => mutexLeaseSuite(stage));
  on.part('the loss and the token of the lease', 'deployment', () => mutexLossSuite(stage));
  if (!isMulti) on.part('events', 'client', () => mutexEventsSuite(stage));
  on.part('closing the client', 'server', () => mutexClosingSuite(stage));
  on.part('outages', isVariant ? 'client' : 'deployment', () => mutexOutagesSuite(stage));
  on.part('lost places', 'deployment', () => mutexLostPlacesSuite(stage, isFair));
}

const WAITERS = byTier({ quick: 20, standard: 20, long: 50 });

/**
 * One holder at a time, in the order of the queue.
 *
 * @param isFair is that one queue? Else there is one for each client
 */
function mutexExclusionSuite(stage: () => LockStage, isFair = true): void {
  it('lets one of two clients in, and the other when that one lets go (Curator: test2Clients)', async () => {
    const { mine, theirs, key } = stage();
    const first = await mine.lock(key).acquire();
    const { lease: waiting } = await stage().queue(theirs);
    expect(await theirs.lock(key).tryAcquire()).toBeUndefined();

    await first.release();
    const second = await waiting;
    expect([first.isHeld, second.isHeld]).toEqual([false, true]);
    expect(await mine.lock(key).tryAcquire()).toBeUndefined();
    await second.release();
  });

  it('lets ten users of one mutex object in one by one (Curator: testReentrantSingleLock) (Redisson: testConcurrency_SingleInstance)', async () => {
    const { mine, key } = stage();
    const mutex = mine.lock(key);
    const room = new Room();
    await Promise.all(Array.from({ length: 10 }, () => mutex.using(() => room.visit())));
    expect(room).toMatchObject({ visits: 10, mostAtOnce: 1 });
  });

  it('keeps out a second acquire of the same client that is not inside of the first (Curator: testReentrant2Threads)', async () => {
    const { mine, key } = stage();
    await using _ = await mine.lock(key).acquire();
    expect(await mine.lock(key).tryAcquire()).toBeUndefined();
    await expect(mine.lock(key).acquire({ wait: 20 })).rejects.toBeInstanceOf(LockTimeoutError);
  });

  it('is another one in another namespace (Curator: testWithNamespace)', async () => {
    const { mine, theirs, key } = stage();
    const inside = await stage().client({ namespace: `namespace-of-${key}` });
    await using outer = await mine.lock(key).acquire();
    await using inner = await inside.lock(key).acquire();
    expect([outer.isHeld, inner.isHeld]).toEqual([true, true]);
    expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
    expect(await inside.lock(key).tryAcquire()).toBeUndefined();
  });

  it('loses no update of five clients that read, then write (Redisson: testConcurrencyLoop_MultiInstance, testConcurrency_MultiInstance)', async () => {
    const { key } = stage();
    const clients = await fiveClients();
    const room = new Room();
    const work = clients.flatMap((client) =>
      Array.from({ length: 8 }, () => client.lock(key).using(() => room.visit())),
    );
    await Promise.all(work);
    expect(room).toMatchObject({ visits: 40, mostAtOnce: 1 });
  });

  const whom = isFair ? 'the waiters of five clients' : 'the waiters of each of five clients';
  it(`serves ${whom} in the order they queued (Redisson: RedissonFairLockTest testConcurrency_MultiInstance_Ordering)`, async () => {
    const { mine } = stage();
    const clients = await fiveClients();
    const first = await mine.lock(stage().key).acquire();
    const served: number[] = [];
    const visits: Promise<void>[] = [];
    for (let visitor = 0; visitor < WAITERS; visitor++) {
      const { lease } = await stage().queue(clients[visitor % clients.length]!);
      visits.push(
        lease.then(async (held) => {
          served.push(visitor);
          await held.release();
        }),
      );
    }
    await first.release();
    await Promise.all(visits);
    const inOrder = Array.from({ length: WAITERS }, (_, visitor) => visitor);
    if (isFair) return expect(served).toEqual(inOrder);
    const ofClient = (client: number) => (visitor: number) => visitor % clients.length === client;
    for (const client of clients.keys())
      expect(served.filter(ofClient(client))).toEqual(inOrder.filter(ofClient(client)));
  });

  async function fiveClients(): Promise<StageClient[]> {
    const { mine, theirs } = stage();
    const others = await Promise.all([1, 2, 3].map(() => stage().client()));
    return [mine, theirs, ...others];
  }
}

/** Counts its visitors by reading and writing in different turns, as a database would. */
class Room {
  visits = 0;
  mostAtOnce = 0;
  #inside = 0;

  async visit(): Promise<void> {
    this.#inside += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#inside);
    const { visits } = this;
    await nextTurn();
    this.visits = visits + 1;
    this.#inside -= 1;
  }
}

/** Shutdown in two steps: refuse, so that running work may end; then close. */
function mutexClosingSuite(stage: () => LockStage): void {
  it('begins with refuse(): it rejects 20 waiters, keeps what is held, and grants nothing more', async () => {
    const { mine, key } = stage();
    const held = await mine.lock(key).acquire();
    const waiters = await queueTwenty(mine);

    mine.locks.refuse();
    await expectAllClosed(waiters);
    await expectAllClosed([mine.lock(key).acquire(), mine.lock('another').tryAcquire()]);
    await contendersBecome(stage(), 1);

    expect(held.isHeld).toBe(true);
    await held.release();
    await expectReleased(stage());
  });

  it('is announced by limitWaits(): locks are granted, and only waits without a bound get one', async () => {
    const { mine, theirs, key } = stage();
    const held = await theirs.lock(key).acquire();
    const endless = mine.lock(key).acquire();
    const patient = mine.lock(key).acquire({ wait: 60_000 });
    await eventually('both wait', () => mine.locks.status().waiting >= 2);

    mine.locks.limitWaits(300);
    await using _ = await mine.lock('another').acquire({ wait: 60_000 }); // whatever else the machine does
    await expectAllClosed([endless, mine.lock(key).acquire()]);
    await held.release();
    await (await patient).release();
    await (await mine.lock(key).acquire({ wait: 60_000 })).release();
  });

  it('refuses to connect again, at once', async () => {
    const { mine } = stage();
    await mine.locks.close();
    await expectAllClosed([mine.locks.connect()]);
  });

  it('rejects 20 waiters, and leaves nothing of them', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await theirs.lock(key).acquire();
    const waiters = await queueTwenty(mine);
    await mine.locks.close();
    expect(await stage().contenders()).toHaveLength(1); // that of the holder
    await expectAllClosed(waiters);
  });

  it('takes the lock from its holder, aborts the signal of the holder, and hands the lock on', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.lock(key).acquire();
    const { signal } = lease;
    const { lease: waiting } = await stage().queue(theirs);

    const closing = mine.locks.close();
    expect(lease.isHeld).toBe(false);
    expect(signal.reason).toBeInstanceOf(LockLostError);
    await closing;
    await using next = await waiting;
    expect(next.isHeld).toBe(true);
    await lease.release(); // late, and harmless
    expect(next.isHeld).toBe(true);
  });

  it('happens once, however often it is asked for, and is final', async () => {
    const { mine, key } = stage();
    await Promise.all([mine.locks.close(), mine.locks.close()]);
    await mine.locks.close();
    await expectAllClosed([
      mine.lock(key).acquire(),
      mine.lock(key).tryAcquire(),
      mine.lock(key).using(async () => {}),
    ]);
  });

  it('lets the others go on', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await theirs.lock('of others').acquire();
    await mine.locks.close();
    await using lease = await theirs.lock(key).tryAcquire();
    expect(lease?.isHeld).toBe(true);
  });

  async function queueTwenty(client: StageClient): Promise<Promise<Lease>[]> {
    const waiters = await Promise.all(Array.from({ length: 20 }, () => stage().queue(client)));
    return waiters.map(({ lease }) => lease);
  }

  async function expectAllClosed(acquires: readonly Promise<unknown>[]): Promise<void> {
    for (const result of await Promise.allSettled(acquires)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'LOCK_CLIENT_CLOSED' } });
      expect((result as PromiseRejectedResult).reason).toBeInstanceOf(LockClientClosedError);
    }
  }
}

/** The servers go away. What only real servers and networks do has tests of its own. */
function mutexOutagesSuite(stage: () => LockStage): void {
  it('keep holder and waiter when the servers come back (Curator: testWaitingProcessKilledServer)', async () => {
    const { mine, theirs, key } = stage();
    const holder = await mine.lock(key).acquire();
    const token = await holder.fencingToken();
    const { lease: waiting } = await stage().queue(theirs);
    await stage().down();
    await stage().up();
    expect(holder.isHeld).toBe(true);
    expect(holder.signal.aborted).toBe(false);
    await contendersBecome(stage(), 2);

    await holder.release();
    await using next = await waiting;
    expect(await next.fencingToken()).toBeGreaterThan(token);
  });

  it('end waits on time, and delay a release until the servers are back', async () => {
    const { mine, theirs, key } = stage();
    const holder = await mine.lock(key).acquire();
    await stage().down();
    const late = theirs.lock(key).acquire({ wait: 50 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(theirs.lock(key).tryAcquire({ wait: 50 })).rejects.toBeInstanceOf(
      LockTimeoutError,
    );
    const patient = theirs.lock(key).acquire();
    await holder.release();
    await stage().up();
    const next = await patient;
    expect(next.isHeld).toBe(true);
    await next.release();
    await contendersBecome(stage(), 0);
  });
}

/**
 * The servers forget a waiter.
 *
 * @param isFair is the first in the queue served first?
 */
function mutexLostPlacesSuite(stage: () => LockStage, isFair: boolean): void {
  it('make a waiter that the servers forget queue again', async () => {
    const { mine, theirs, key } = stage();
    const holder = await mine.lock(key).acquire();
    const { lease } = await stage().queue(theirs);
    const { lease: behind } = await stage().queue(mine);
    const { length } = await stage().contenders();
    await stage().expire(theirs);
    await contendersBecome(stage(), length);
    await holder.release();
    const served: string[] = [];
    const serve = async (name: string, waiting: Promise<Lease>) => {
      const held = await waiting;
      served.push(name);
      expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
      await held.release();
    };
    await Promise.all([serve('forgotten', lease), serve('behind', behind)]);
    expect(isFair ? served : served.sort()).toEqual(['behind', 'forgotten']);
  });
}
