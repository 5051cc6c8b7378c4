import { describe, expect, it } from '@jest/globals';
import { AsyncResource } from 'node:async_hooks';
import { currentLease } from '../../lib/core/current-lease.js';
import { LockNotHeldError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { eventually } from '../support/eventually.js';
import { expectLost } from './expect-lost.js';
import { SemaphoreStage } from './semaphore-stage.js';
import type { Stage } from './stage.js';

/** The handle on one or several permits. */
export function semaphoreLeaseSuite(stage: () => Stage): void {
  const semaphores = new SemaphoreStage(stage);

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

  it('gives back its own permits only, and once, however often it is released', async () => {
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
    await semaphores.becomes({ leases: 0, gate: 0 });
  });

  describe('is lost', () => {
    it('when its session ends, and somebody else gets the permits', async () => {
      const { mine, theirs } = stage();
      const lease = await semaphores.of(mine, 2).acquire({ permits: 2 });
      const { lease: waiting } = await semaphores.queue(theirs, 2, { permits: 2 });
      await stage().expire(mine);
      await using next = await waiting;
      expect(next.isHeld).toBe(true);
      expectLost(lease);
      await lease.release();
      expect(next.isHeld).toBe(true);
      expect(await semaphores.leases()).toHaveLength(2);
    });

    it.each([0, 1, 2])('when a stranger deletes node %i of its three', async (n) => {
      const { mine, theirs, stranger, path } = stage();
      const lease = await semaphores.of(mine, 3).acquire({ permits: 3 });
      await lease.fencingToken(); // it watches its nodes from now on
      const { signal } = lease;
      const { lease: waiting } = await semaphores.queue(theirs, 3);
      await semaphores.becomes({ leases: 4, gate: 1 });
      const nodes = await semaphores.leases();
      await stranger.delete(`${path}/leases/${nodes[n]}`);
      await using next = await waiting;
      expect(next.isHeld).toBe(true);
      await eventually('the holder is told', () => signal.aborted);
      expect((signal.reason as Error).message).toContain('somebody deleted its node');
      expectLost(lease);
      await lease.release();
      await semaphores.becomes({ leases: 1, gate: 0 });
    });

    it('without the others of the same client', async () => {
      const { mine, stranger, path } = stage();
      const [lost, kept] = [
        await semaphores.of(mine, 2).acquire(),
        await semaphores.of(mine, 2).acquire(),
      ];
      await lost.fencingToken();
      const { signal } = lost;
      const [node] = await semaphores.leases();
      await stranger.delete(`${path}/leases/${node}`);
      await eventually('the holder is told', () => signal.aborted);
      expect([lost.isHeld, kept.isHeld]).toEqual([false, true]);
      await Promise.all([lost.release(), kept.release()]);
    });
  });

  describe('has a fencing token', () => {
    it('that grows with every grant, whoever gets it, and fits 64 bits', async () => {
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
