import { describe, expect, it } from '@jest/globals';
import { AsyncResource } from 'node:async_hooks';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import { LockNotHeldError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { eventually } from '../support/eventually.js';
import { expectLost } from './expect-lost.js';
import type { LockStage } from './lock-stage.js';
import type { SemaphoreStage } from './semaphore-stage.js';

/** The handle on one or several permits. */
export function semaphoreLeaseSuite(stage: () => LockStage, semaphores: SemaphoreStage): void {
  it('is held until it is released', async () => {
    const { mine, key } = stage();
    const lease = await semaphores.of(mine, 2).acquire({ permits: 2 });
    expect(lease).toMatchObject({ key, isHeld: true });
    lease.assertHeld();
    const { signal } = lease;

    await lease.release();
    expect([lease.isHeld, signal.aborted]).toEqual([false, false]);
    expect(() => lease.assertHeld()).toThrow(LockNotHeldError);
    await expect(lease.fencingToken()).rejects.toBeInstanceOf(LockNotHeldError);
    await expect(lease.run(async () => {})).rejects.toBeInstanceOf(LockNotHeldError);
  });

  it('releases its own permits only, and once, however often it is released', async () => {
    const { mine, theirs } = stage();
    await using kept = await semaphores.of(mine, 3).acquire();
    const lease = await semaphores.of(mine, 3).acquire({ permits: 2 });
    await Promise.all([lease.release(), lease.release()]);
    await using _ = await semaphores.of(theirs, 3).acquire({ permits: 2 });
    await lease.release();
    expect(kept.isHeld).toBe(true);
    expect(await semaphores.of(mine, 3).tryAcquire()).toBeUndefined();
  });

  it('may be released from any async context', async () => {
    const { mine, theirs } = stage();
    const elsewhere = new AsyncResource('elsewhere');
    const lease = await semaphores.of(mine, 1).acquire();
    await lease.run(() => elsewhere.runInAsyncScope(() => lease.release()));
    await using next = await semaphores.of(theirs, 1).tryAcquire();
    expect(next?.isHeld).toBe(true);
  });

  it('is released by `await using` at the end of its block', async () => {
    const { mine, theirs } = stage();
    {
      await using lease = await semaphores.of(mine, 1).acquire();
      expect(lease.isHeld).toBe(true);
    }
    await using next = await semaphores.of(theirs, 1).tryAcquire();
    expect(next?.isHeld).toBe(true);
  });

  it('is the current one inside of using(), which ends as the work does', async () => {
    const semaphore = semaphores.of(stage().mine, 1);
    const error = new Error('no paper');
    expect(await semaphore.using((lease) => currentLease() === lease)).toBe(true);
    await expect(semaphore.using(async () => Promise.reject(error))).rejects.toBe(error);
    await semaphores.becomes({ held: 0, waiting: 0 });
  });

  describe('is lost', () => {
    it('when the servers forget it, and another client gets the permits', async () => {
      const { mine, theirs } = stage();
      const lease = await semaphores.of(mine, 2).acquire({ permits: 2 });
      const { lease: waiting } = await semaphores.queue(theirs, 2, { permits: 2 });
      await stage().expire(mine);
      await using next = await waiting;
      expect(next.isHeld).toBe(true);
      expectLost(lease);
      await lease.release();
      expect(next.isHeld).toBe(true);
      await semaphores.becomes({ held: 2, waiting: 0 });
    });

    it.each([0, 1, 2])('when another client releases permit %i of its three', async (n) => {
      const { mine, theirs } = stage();
      const lease = await semaphores.of(mine, 3).acquire({ permits: 3 });
      await lease.fencingToken(); // on ZooKeeper it watches its nodes from now on
      const { signal } = lease;
      const { lease: waiting } = await semaphores.queue(theirs, 3);
      await semaphores.becomes({ held: 3, waiting: 1 });
      await semaphores.evict(lease, n);
      await using next = await waiting;
      expect(next.isHeld).toBe(true);
      stage().makeSure(mine);
      await eventually('the signal of the holder aborts', () => signal.aborted);
      expect((signal.reason as Error).message).toMatch(/its node was deleted|removed by force/);
      expectLost(lease);
      await lease.release();
      await semaphores.becomes({ held: 1, waiting: 0 });
      expect(next.isHeld).toBe(true);
    });

    it('without the others of the same client', async () => {
      const { mine } = stage();
      const [lost, kept] = [
        await semaphores.of(mine, 2).acquire(),
        await semaphores.of(mine, 2).acquire(),
      ];
      await lost.fencingToken();
      const { signal } = lost;
      await semaphores.evict(lost);
      stage().makeSure(mine);
      await eventually('the signal of the holder aborts', () => signal.aborted);
      expect([lost.isHeld, kept.isHeld]).toEqual([false, true]);
      await Promise.all([lost.release(), kept.release()]);
    });
  });

  describe('has a fencing token', () => {
    it('that grows with every grant, whichever client gets it, and fits 64 bits', async () => {
      const { mine, theirs } = stage();
      const tokens: bigint[] = [];
      const leases: Lease[] = [];
      for (const client of [mine, theirs, mine, theirs]) {
        const permits = client === mine ? 1 : 2;
        const lease = await semaphores.of(client, 6).acquire({ permits });
        leases.push(lease);
        tokens.push(await lease.fencingToken());
      }
      for (const [i, token] of tokens.entries()) {
        expect(BigInt.asIntN(64, token)).toBe(token);
        if (i > 0) expect(token).toBeGreaterThan(tokens[i - 1]!);
        expect(await leases[i]!.fencingToken()).toBe(token);
      }
      await Promise.all(leases.map((lease) => lease.release()));
    });

    it('that grows from holder to waiter', async () => {
      const { mine, theirs } = stage();
      const first = await semaphores.of(mine, 2).acquire({ permits: 2 });
      const { lease: waiting } = await semaphores.queue(theirs, 2, { permits: 2 });
      const token = await first.fencingToken();
      await first.release();
      await using second = await waiting;
      expect(await second.fencingToken()).toBeGreaterThan(token);
    });
  });
}
