import { describe, expect, it } from '@jest/globals';
import { LockAbortedError, LockTimeoutError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import type { AcquireOptions } from '../../lib/core/lock.js';
import { isSettled } from '../support/time.js';
import { seededRandom } from '../support/seeded-random.js';
import { ReadWriteRoom } from './backends/leases.js';
import {
  contendersBecome,
  type Deployment,
  type LockStage,
  onStage,
  type StageClient,
} from './backends/stage.js';
import { type Backend, sharedReadRecipe, Stage } from './backends/zookeeper.js';
import { lockOptionsSuite, lockWaitSuite, type WaitedFor } from './lock-waits.suite.js';
import { readWriteDowngradeFaultsSuite, readWriteFaultsSuite } from './read-write-faults.suite.js';
import {
  readWriteDowngradeSuite,
  readWriteEventsSuite,
  readWriteNestingSuite,
} from './read-write-nesting.suite.js';
import { sharedReadSuite } from './shared-read.suite.js';
import { type ShownOfOthers, timeOutHolderSuite } from './time-out-holder.suite.js';
import { readWriteStrangersSuite, readWriteZnodesSuite } from './read-write-znodes.suite.js';

/**
 * Everything that a read/write lock promises on ZooKeeper. It contains all cases of Curator's TestInterProcessReadWriteLock,
 * each named where it stands.
 */
export function readWriteLockSuite(on: Deployment<Backend>): void {
  describe(`A read/write lock on ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend()));
    everyReadWriteLockSuite(on, stage, 'queue');
    on.part('the znodes', 'server', () => readWriteZnodesSuite(stage));
    on.part('a node for each waiter and downgrade', 'server', () => readWriteStrangersSuite(stage));
  });
}

/** Everything that a read/write lock promises whose readers share it, but for the order across processes. */
export function sharedReadLockSuite(on: Deployment<Backend>): void {
  describe(`A read/write lock whose readers share it, on ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend(), sharedReadRecipe));
    everyReadWriteLockSuite(on, stage, 'any');
    sharedReadSuite(stage, { isQueue: true });
  });
}

/** Which client is served first: the first in the queue; a writer that waits; or any. */
type Order = 'queue' | 'writers' | 'any';

/** What every read/write lock promises, whatever servers it stands on. */
export function everyReadWriteLockSuite<B>(
  on: Deployment<B>,
  stage: () => LockStage,
  order: Order,
  shown: ShownOfOthers = 'its node',
): void {
  on.part('sharing', 'deployment', () => readWriteSharingSuite(stage, order));
  on.part('a crowd', 'deployment', () => readWriteCrowdSuite(stage));
  on.part('nesting', 'client', () => readWriteNestingSuite(stage));
  on.part('a downgrade', 'server', () => readWriteDowngradeSuite(stage));
  on.part('a downgrade in trouble', 'recipe', () => readWriteDowngradeFaultsSuite(stage));
  const halves = (['read', 'write'] as const).map((half): [string, WaitedFor] => {
    const wanted = (client: StageClient) => client.half(half, stage().key);
    return [half, { wanted, taken: (client) => client.writeLock(stage().key) }];
  });
  on.part('waiting', 'server', () => {
    describe.each(halves)('for the %s lock', (_, half) => lockWaitSuite(stage, half));
    readWriteDeadlineSuite(stage);
  });
  on.part('a time-out', 'server', () => {
    describe.each(halves)('for the %s lock', (_, half) =>
      timeOutHolderSuite(stage, { ...half, shown, mode: 'write' }),
    );
    describe('for the write lock behind a reader', () =>
      timeOutHolderSuite(stage, {
        wanted: (client) => client.writeLock(stage().key),
        taken: (client) => client.readLock(stage().key),
        shown,
        mode: 'read',
      }));
  });
  on.part('bad options', 'client', () => {
    describe.each(halves)('of the %s lock', (_, half) => lockOptionsSuite(stage, half));
  });
  on.part('events', 'client', () => readWriteEventsSuite(stage));
  on.part('accidents', 'recipe', () => readWriteFaultsSuite(stage, order === 'queue'));
}

/** Many readers or one writer, in the order of the queue. */
function readWriteSharingSuite(stage: () => LockStage, order: Order): void {
  it('lets several readers in at once, and no writer (Redisson: RedissonReadWriteLockTest testMultiRead)', async () => {
    const { mine, theirs, key } = stage();
    const readers = await Promise.all(
      [mine, theirs, mine, theirs].map((client) => client.readLock(key).acquire()),
    );
    expect(readers.map(({ isHeld }) => isHeld)).toEqual([true, true, true, true]);
    expect(await mine.writeLock(key).tryAcquire()).toBeUndefined();
    expect(await theirs.writeLock(key).tryAcquire()).toBeUndefined();

    await releaseAll(readers);
    await using writer = await theirs.writeLock(key).tryAcquire();
    expect(writer?.isHeld).toBe(true);
  });

  it('lets no writer in beside a reader that the writer could only know from a list', async () => {
    const { mine, key } = stage();
    for (let cycle = 0; cycle < 3; cycle++) await mine.readLock(key).using(async () => {}); // needs no list any more
    const first = await mine.readLock(key).acquire();
    const second = await mine.readLock(key).acquire();
    await first.release();
    expect(await mine.writeLock(key).tryAcquire()).toBeUndefined();
    await second.release();
  });

  it('lets a writer in alone (Redisson: RedissonReadWriteLockTest testIsHeldByCurrentThreadOtherThread, testWriteLock)', async () => {
    const { mine, theirs, key } = stage();
    const writer = await mine.writeLock(key).acquire();
    for (const client of [mine, theirs]) {
      expect(await client.readLock(key).tryAcquire()).toBeUndefined();
      expect(await client.writeLock(key).tryAcquire()).toBeUndefined();
    }
    await writer.release();
    await using reader = await theirs.readLock(key).tryAcquire();
    expect(reader?.isHeld).toBe(true);
  });

  describe('while others wait', () => {
    it('keeps a writer out until the last reader ahead has left, whichever leaves first', async () => {
      const { mine, theirs, key } = stage();
      const readers = [
        await mine.readLock(key).acquire(),
        await mine.readLock(key).acquire(),
        await mine.readLock(key).acquire(),
      ];
      const { lease: writer } = await queueHalf('write', theirs);
      for (const place of [1, 2]) {
        await readers[place]!.release();
        await stage().caughtUp(theirs);
        expect(await isSettled(writer)).toBe(false);
      }
      await readers[0]!.release();
      await (await writer).release();
    });

    it('lets readers join those inside when the writer between them gives up', async () => {
      const { mine, theirs, key } = stage();
      await using _ = await mine.readLock(key).acquire();
      const leave = new AbortController();
      const writer = await stage().queueFor(mine.writeLock(key), mine, { signal: leave.signal });
      const { lease: joining } = await queueHalf('read', theirs);
      const { lease: alsoJoining } = await queueHalf('read', mine);
      leave.abort();
      await expect(writer.lease).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
      await releaseAll(await Promise.all([joining, alsoJoining]));
    });

    it('lets no reader in when the writer before it gives up, but another one writes', async () => {
      const { mine, theirs, key } = stage();
      const writer = await mine.writeLock(key).acquire();
      const leave = new AbortController();
      await stage().queueFor(mine.writeLock(key), mine, { signal: leave.signal });
      const { lease: reader } = await queueHalf('read', theirs);
      leave.abort();
      await contendersBecome(stage(), 2);
      await stage().caughtUp(theirs);
      expect(await isSettled(reader)).toBe(false);
      await writer.release();
      await (await reader).release();
    });

    it('does not let a writer in when the waiter before it gives up', async () => {
      const { mine, theirs, key } = stage();
      const reader = await mine.readLock(key).acquire();
      const leave = new AbortController();
      await stage().queueFor(mine.writeLock(key), mine, { signal: leave.signal });
      const { lease: writer } = await queueHalf('write', theirs);
      leave.abort();
      await contendersBecome(stage(), 2);
      await stage().caughtUp(theirs);
      expect(await isSettled(writer)).toBe(false);
      await reader.release();
      await (await writer).release();
    });
  });

  if (order !== 'any')
    it('keeps a reader behind a writer that waits, though only readers are inside', async () => {
      const { mine, theirs, key } = stage();
      const reader = await mine.readLock(key).acquire();
      const { lease: writer } = await queueHalf('write', theirs);
      expect(await mine.readLock(key).tryAcquire()).toBeUndefined();
      const { lease: late } = await queueHalf('read', mine);

      await reader.release();
      const writing = await writer;
      expect(await isSettled(late)).toBe(false);
      await writing.release();
      await using reading = await late;
      expect(reading.isHeld).toBe(true);
    });

  if (order === 'queue')
    describe('in the order of the queue', () => {
      it('serves readers together and writers one by one', async () => {
        const { mine, theirs, key } = stage();
        const first = await mine.writeLock(key).acquire();
        const served: string[] = [];
        const leases: Promise<Lease>[] = [];
        const queue = ['r1', 'r2', 'w3', 'w4', 'r5', 'r6', 'r7', 'w8'];
        for (const [place, name] of queue.entries()) {
          const half = name.startsWith('r') ? 'read' : 'write';
          const { lease } = await queueHalf(half, place % 2 ? mine : theirs);
          leases.push(lease);
          void lease.then(() => served.push(name));
        }

        await first.release();
        const groups = [['r1', 'r2'], ['w3'], ['w4'], ['r5', 'r6', 'r7'], ['w8']];
        for (const group of groups) {
          const inside = await Promise.all(leases.splice(0, group.length)); // all, before one leaves
          expect(served.splice(0).sort()).toEqual(group);
          await releaseAll(inside);
        }
      });

      it('keeps a reader out until the last writer ahead has left', async () => {
        const { mine, theirs, key } = stage();
        const first = await mine.writeLock(key).acquire();
        const { lease: second } = await queueHalf('write', mine);
        const { lease: third } = await queueHalf('write', mine);
        const { lease: reader } = await queueHalf('read', theirs);
        await first.release();
        for (const writer of [second, third]) {
          const writing = await writer;
          await stage().caughtUp(theirs);
          expect(await isSettled(reader)).toBe(false);
          await writing.release();
        }
        await (await reader).release();
      });
    });

  function queueHalf(
    half: 'read' | 'write',
    client: StageClient,
  ): Promise<{ lease: Promise<Lease> }> {
    return stage().queueFor(client.half(half, stage().key), client);
  }
}

async function releaseAll(leases: readonly Lease[]): Promise<void> {
  await Promise.all(leases.map((lease) => lease.release()));
}

/** Many readers, writers and writers that read on, of several clients, all at once. */
function readWriteCrowdSuite(stage: () => LockStage): void {
  it('loses no update of writers among readers, and lets readers meet (Curator: TestInterProcessReadWriteLock testBasic) (Redisson: RedissonReadWriteLockTest testConcurrency_SingleInstance, testConcurrencyLoop_MultiInstance, testConcurrency_MultiInstance)', async () => {
    const room = await crowd(25, () => ({}));
    expect(room).toMatchObject({ updates: room.writes, disturbances: 0 });
    expect(room.writes).toBeGreaterThan(0);
    expect(room.mostReaders).toBeGreaterThan(1);
  });

  it('does so when many give up while they wait, and keeps nothing of them', async () => {
    const random = seededRandom(2);
    const impatient = (): AcquireOptions => {
      const dice = random();
      if (dice < 0.3) return { wait: 1 + 20 * random() };
      if (dice < 0.6) return { signal: AbortSignal.timeout(Math.floor(20 * random())) };
      return {};
    };
    const room = await crowd(25, impatient);
    expect(room).toMatchObject({ updates: room.writes, disturbances: 0 });
    await contendersBecome(stage(), 0);
  });

  /** Four clients with two visitors each, which come in that many times. */
  async function crowd(times: number, options: () => AcquireOptions): Promise<ReadWriteRoom> {
    const { mine, theirs } = stage();
    const clients = [mine, theirs, await stage().client(), await stage().client()];
    const random = seededRandom(1);
    const room = new ReadWriteRoom();
    const visitors = [...clients, ...clients].map(async (client) => {
      for (let time = 0; time < times; time++) {
        await visit(client, room, random(), options()).catch(expectPatienceToEnd);
      }
    });
    await Promise.all(visitors);
    return room;
  }

  async function visit(
    client: StageClient,
    room: ReadWriteRoom,
    dice: number,
    options: AcquireOptions,
  ): Promise<void> {
    const { key } = stage();
    const [reading, writing] = [client.readLock(key), client.writeLock(key)];
    if (dice < 0.6) return reading.using(() => room.read(), options);
    if (dice < 0.8) return writing.using(() => room.write(), options);
    const write = async () => {
      await room.write();
      return reading.acquire();
    };
    await using reader = await writing.using(write, options);
    const { updates } = room;
    await reader.run(() => room.read());
    expect(room.updates).toBe(updates); // no client has written since
  }
}

function expectPatienceToEnd(error: unknown): void {
  if (error instanceof LockTimeoutError || error instanceof LockAbortedError) return;
  throw error;
}

/** Deadlines of both halves behind those that hold the other one. */
function readWriteDeadlineSuite(stage: () => LockStage): void {
  it('of a writer behind readers ends as that of a reader behind a writer', async () => {
    const { mine, theirs, key } = stage();
    await using reader = await mine.readLock(key).acquire();
    const failure = theirs.writeLock(key).acquire({ wait: 30 });
    await expect(failure).rejects.toBeInstanceOf(LockTimeoutError);
    await contendersBecome(stage(), 1);
    await using other = await theirs.readLock(key).tryAcquire(); // no client is ahead any more
    expect([reader.isHeld, other?.isHeld]).toEqual([true, true]);
  });
}
