import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { RetryUntilElapsed } from '../../../lib/zookeeper/connection/retry-policies.js';
import type { ZooKeeperLease } from '../../../lib/zookeeper/locks/zookeeper-lease.js';
import type { ZooKeeperLockClientSettings } from '../../../lib/zookeeper/recipe-context.js';
import { type VirtualClock } from '../../support/time.js';
import { type Visitor, VirtualWorld } from './world.js';

const WAITERS = 100;

describe('When the connection is lost for a moment', () => {
  let world: VirtualWorld;
  let clock: VirtualClock;
  let mine: Visitor;
  let theirs: Visitor;

  const join = (options: Partial<ZooKeeperLockClientSettings> = {}) =>
    world.join({ sessionTimeout: 10_000, tickTime: 500, ...options });

  beforeEach(async () => {
    world = new VirtualWorld({ tickTime: 500 });
    ({ clock } = world);
    mine = await join();
    theirs = await join();
  });
  afterEach(() => clock.runUntil(Promise.all([mine.locks.close(), theirs.locks.close()])));

  /** Cuts its connection; resolves when it is back, with the kinds of the requests that were sent since. */
  async function interrupt({ network, connection, log }: Visitor): Promise<string[]> {
    const before = log.requests.length;
    network.cut();
    await clock.runUntil(() => connection.isConnected);
    await clock.advance(1_000);
    return log.requests.slice(before).map(({ op }) => op);
  }

  describe('waiters', () => {
    let held: ZooKeeperLease;
    let order: number[];
    let waiting: Promise<void>[];

    beforeEach(async () => {
      held = await clock.runUntil(theirs.locks.mutex('door').acquire());
      order = [];
      waiting = Array.from({ length: WAITERS }, (_, i) =>
        mine.locks.mutex('door').using(() => void order.push(i)),
      );
      await clock.advance(1_000);
    });

    const inOrder = Array.from({ length: WAITERS }, (_, i) => i);

    it('set their watches anew, and list nothing', async () => {
      const sent = await interrupt(mine);
      expect(sent.filter((op) => op === 'getChildren')).toEqual([]);
      expect(sent.filter((op) => op === 'getData')).toHaveLength(2 * WAITERS);
      await clock.runUntil(held.release());
      await clock.runUntil(Promise.all(waiting));
      expect(order).toEqual(inOrder);
    });

    it('look again where the one ahead has gone meanwhile', async () => {
      mine.network.partition();
      mine.network.cut();
      await clock.runUntil(held.release());
      mine.network.heal();
      await clock.runUntil(() => mine.connection.isConnected);
      await clock.runUntil(Promise.all(waiting));
      expect(order).toEqual(inOrder);
    });

    it('queue again where their own node has gone meanwhile', async () => {
      const [, second] = await clock.runUntil(theirs.locks.mutex('door').participants());
      mine.network.partition();
      mine.network.cut();
      world.server.remove(second!);
      mine.network.heal();
      await clock.runUntil(() => mine.connection.isConnected);
      await clock.advance(1_000);
      await clock.runUntil(held.release());
      await clock.runUntil(Promise.all(waiting));
      expect(order).toEqual([...inOrder.slice(1), 0]);
    });

    it('are not counted as failing since they began to wait', async () => {
      const patient = await join({ retryPolicy: new RetryUntilElapsed(500, 20) });
      const served = patient.locks.mutex('door').using(() => 'served');
      for (let left = 4; left > 0; left--) {
        await clock.advance(2_000);
        await interrupt(patient);
      }
      await clock.runUntil(held.release());
      await clock.runUntil(Promise.all(waiting));
      expect(await clock.runUntil(served)).toBe('served');
      await clock.runUntil(patient.locks.close());
    });
  });

  describe('with the policy `standard`', () => {
    let strict: Visitor;

    beforeEach(async () => {
      strict = await join({ errorPolicy: 'standard' });
    });
    afterEach(() => clock.runUntil(strict.locks.close()));

    it.each([
      ['a mutex', () => strict.locks.mutex('door').acquire()],
      ['a read lock', () => strict.locks.readWriteLock('door').readLock().acquire()],
      ['a write lock', () => strict.locks.readWriteLock('door').writeLock().acquire()],
      ['two permits', () => strict.locks.semaphore('door', { permits: 2 }).acquire({ permits: 2 })],
      ['a semaphore mutex', () => strict.locks.semaphoreMutex('door').acquire()],
    ])('%s is lost at once, and released when the servers can be reached', async (_, acquire) => {
      const lease = await clock.runUntil(acquire());
      const { signal } = lease;
      const session = strict.connection.session!;
      strict.network.partition();
      strict.network.cut();
      await clock.runUntil(() => !strict.connection.isConnected);
      expect([signal.aborted, lease.isHeld, session.isAlive]).toEqual([true, false, true]);
      strict.network.heal();
      await clock.runUntil(() => strict.connection.isConnected);
      await clock.advance(1_000);
      expect([session.isAlive, lease.isHeld]).toEqual([true, false]);
      expect(lease.paths.filter((path) => world.server.tree.get(path))).toEqual([]);
      await clock.runUntil(lease.release());
    });

    it('a mutex that is released because of that is not handed on', async () => {
      const mutex = strict.locks.mutex('door', { handOff: { atMost: 9, for: 60_000 } });
      const first = await clock.runUntil(mutex.acquire());
      const next = mutex.acquire();
      strict.locks.on('connection', ({ state }) => void (state === 'SUSPENDED' && first.release()));
      await interrupt(strict);
      const lease = await clock.runUntil(next);
      expect(lease.paths).not.toEqual(first.paths);
      expect([lease.isHeld, world.server.tree.get(lease.paths[0]!)]).toEqual([
        true,
        expect.anything(),
      ]);
      await clock.runUntil(lease.release());
    });

    it('what is kept after its release stays until its time is over, and counts as released then', async () => {
      const released: number[] = [];
      strict.locks.on('released', ({ heldMs }) => void released.push(heldMs));
      const lease = await clock.runUntil(strict.locks.mutex('door').acquire());
      lease.hold.atLeast = 30_000;
      await clock.runUntil(lease.release());
      await interrupt(strict);
      expect(lease.paths.filter((path) => world.server.tree.get(path))).toEqual(lease.paths);
      expect(released).toEqual([]);
      await clock.advance(30_000);
      expect(lease.paths.filter((path) => world.server.tree.get(path))).toEqual([]);
      expect(released).toEqual([expect.closeTo(30_000, -2)]);
    });

    it('an election goes on as it does everywhere', async () => {
      const latch = strict.locks.leaderLatch('door');
      latch.start();
      await clock.runUntil(latch.awaitLeadership());
      const [node] = await clock.runUntil(latch.participants());
      await interrupt(strict);
      expect(await clock.runUntil(latch.participants())).toEqual([node]);
      await clock.runUntil(latch.awaitLeadership());
      await clock.runUntil(latch.close());
    });
  });
});
