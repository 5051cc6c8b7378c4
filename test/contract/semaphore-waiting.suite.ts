import { AsyncResource } from 'node:async_hooks';
import { describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockLostError,
  LockNotHeldError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import type { Lease } from '../../lib/core/lease.js';
import type { LockEvents } from '../../lib/core/lock-events.js';
import { earliest, eventually } from '../support/time.js';
import { eventsOf, expectLost } from './backends/leases.js';
import type { SemaphoreStage } from './backends/semaphores.js';
import type { LockStage } from './backends/stage.js';

/** Whatever ends a wait before the grant, neither a permit nor a place in the queue is left of it. */
export function semaphoreWaitingSuite(stage: () => LockStage, semaphores: SemaphoreStage): void {
  describe('up to a deadline', () => {
    it('is one deadline over the place in the queue and all permits', async () => {
      const { mine, theirs } = stage();
      const held = [await semaphores.of(mine, 2).acquire(), await semaphores.of(mine, 2).acquire()];
      const stop = new AbortController();
      const { lease: front } = await semaphores.queue(mine, 2, { signal: stop.signal });
      const start = performance.now();
      const { lease } = await semaphores.queue(theirs, 2, { permits: 2, wait: 1_200 });
      await eventually('most of it is over', () => performance.now() - start > 800);
      const firstAt = performance.now();
      stop.abort(); // it is the first now
      await expect(front).rejects.toBeInstanceOf(LockAbortedError);
      await held[0]!.release(); // one of its two is free
      await expect(lease).rejects.toBeInstanceOf(LockTimeoutError);
      expect(performance.now() - firstAt).toBeLessThan(1_200); // with one deadline for each it would be longer
      await semaphores.becomes({ held: 1, waiting: 0 });
      await held[1]!.release();
    });
  });

  describe('until a signal aborts (Curator: testInterruptAcquire)', () => {
    it.each([
      ['as the first', 1],
      ['behind another', 2],
    ])('ends %s with LockAbortedError, and leaves nothing', async (_, place) => {
      const { mine, theirs, key } = stage();
      const holder = await semaphores.of(mine, 1).acquire();
      const stops = [new AbortController(), new AbortController()];
      const waiting = [];
      for (const { signal } of stops) {
        const { lease } = await semaphores.queue(theirs, 1, { signal });
        waiting.push(lease);
      }
      await semaphores.becomes({ held: 1, waiting: 2 });
      const why = new Error('the user went away');
      stops[place - 1]!.abort(why);
      const aborted = waiting.splice(place - 1, 1)[0];
      await expect(aborted).rejects.toBeInstanceOf(LockAbortedError);
      await expect(aborted).rejects.toMatchObject({ code: 'LOCK_ABORTED', key, cause: why });
      await semaphores.becomes({ held: 1, waiting: 1 });
      await holder.release();
      await (await waiting[0])!.release();
    });

    it('leaves none of the permits that it could have had already', async () => {
      const { mine, theirs } = stage();
      const held = await semaphores.of(mine, 3).acquire();
      const stop = new AbortController();
      const { lease } = await semaphores.queue(theirs, 3, { permits: 3, signal: stop.signal });
      await semaphores.becomes({ held: 1, waiting: 1, next: 3 });
      stop.abort();
      await expect(lease).rejects.toBeInstanceOf(LockAbortedError);
      await semaphores.becomes({ held: 1, waiting: 0 });
      await held.release();
    });
  });

  describe('until the client closes', () => {
    it('takes the permits from their holders, aborts their signals, and hands them on (Curator: testClientClose)', async () => {
      const { mine, theirs } = stage();
      const lease = await semaphores.of(mine, 2).acquire({ permits: 2 });
      const { signal } = lease;
      const { lease: waiting } = await semaphores.queue(theirs, 2, { permits: 2 });
      const closing = mine.locks.close();
      expect(lease.isHeld).toBe(false);
      expect(signal.reason).toBeInstanceOf(LockLostError);
      await closing;
      await using next = await waiting;
      expect(next.isHeld).toBe(true);
      await lease.release(); // late, and harmless
      await semaphores.becomes({ held: 2, waiting: 0 });
    });

    it('rejects 20 waiters, and leaves nothing of them', async () => {
      const { mine, theirs } = stage();
      await using _ = await semaphores.of(theirs, 2).acquire();
      const waiting = [];
      for (let n = 0; n < 20; n++) {
        const { lease } = await semaphores.queue(mine, 2, { permits: 2 });
        waiting.push(lease);
      }
      await mine.locks.close();
      await semaphores.becomes({ held: 1, waiting: 0 });
      await expectAllClosed(waiting);
      await expectAllClosed([
        semaphores.of(mine, 2).acquire(),
        semaphores.of(mine, 2).tryAcquire(),
      ]);
    });

    it('begins with refuse(): nothing is granted any more, and what is held stays', async () => {
      const { mine } = stage();
      const semaphore = semaphores.of(mine, 1);
      const held = await semaphore.acquire();
      const { lease: waiting } = await semaphores.queue(mine, 1);
      mine.locks.refuse();
      await expectAllClosed([waiting, semaphore.acquire(), semaphore.tryAcquire()]);
      await semaphores.becomes({ held: 1, waiting: 0 });
      expect(held.isHeld).toBe(true);
      await held.release();
    });

    async function expectAllClosed(acquires: readonly Promise<unknown>[]): Promise<void> {
      for (const result of await Promise.allSettled(acquires)) {
        expect(result).toMatchObject({
          status: 'rejected',
          reason: { code: 'LOCK_CLIENT_CLOSED' },
        });
        expect((result as PromiseRejectedResult).reason).toBeInstanceOf(LockClientClosedError);
      }
    }
  });
}

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

/** What a client reports to its listeners of permits: once for each acquire, however many it is about. */
export function semaphoreEventsSuite(stage: () => LockStage, semaphores: SemaphoreStage): void {
  it.each([1, 3])('report when %i of 3 are acquired and released', async (permits) => {
    const { mine, key } = stage();
    const heard = eventsOf(mine);
    await semaphores.of(mine, 3).using(async () => {}, { permits });
    expect(heard).toEqual([
      { kind: 'acquired', recipe: 'semaphore', key, waitedMs: expect.any(Number) },
      { kind: 'released', recipe: 'semaphore', key, heldMs: expect.any(Number) },
    ]);
  });

  it('report a nested acquire as any other', async () => {
    const { mine } = stage();
    const heard = eventsOf(mine);
    const semaphore = semaphores.of(mine, 2);
    await semaphore.using(() => semaphore.using(async () => {}));
    expect(heard.map(({ kind }) => kind)).toEqual(['acquired', 'acquired', 'released', 'released']);
  });

  it('report once that they are waited for, although they come one by one', async () => {
    const { mine, theirs, key } = stage();
    const held = [await semaphores.of(mine, 2).acquire(), await semaphores.of(mine, 2).acquire()];
    const heard = eventsOf(theirs);
    const { lease } = await semaphores.queue(theirs, 2, { permits: 2 });
    expect(heard).toEqual([{ kind: 'contended', recipe: 'semaphore', key }]);
    await held[0]!.release();
    await stage().caughtUp(theirs); // it has looked again, and waits again
    await semaphores.becomes({ held: 1, waiting: 1, next: 2 });
    await held[1]!.release();
    await (await lease).release();
    expect(heard.map(({ kind }) => kind)).toEqual(['contended', 'acquired', 'released']);
  });

  it('report no wait where some are free', async () => {
    const { mine, theirs } = stage();
    await using _ = await semaphores.of(mine, 2).acquire();
    await semaphores.becomes({ held: 1, waiting: 0 });
    await stage().caughtUp(theirs); // on ZooKeeper its server knows too that the queue is empty
    const heard = eventsOf(theirs);
    await semaphores.of(theirs, 2).using(async () => {});
    expect(heard.map(({ kind }) => kind)).toEqual(['acquired', 'released']);
  });

  it('report an acquire that failed, with its error', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await semaphores.of(mine, 2).acquire();
    const heard = eventsOf(theirs);
    const error: unknown = await semaphores
      .of(theirs, 2)
      .acquire({ permits: 2, wait: 600 })
      .catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(heard).toEqual([
      { kind: 'contended', recipe: 'semaphore', key },
      { kind: 'failed', recipe: 'semaphore', key, waitedMs: expect.any(Number), error },
    ]);
    expect((heard[1] as unknown as LockEvents['failed']).waitedMs).toBeGreaterThanOrEqual(
      earliest(600),
    );
  });

  it('report nothing when tryAcquire finds too few', async () => {
    const { mine, theirs } = stage();
    await using _ = await semaphores.of(mine, 2).acquire();
    const heard = eventsOf(theirs);
    expect(await semaphores.of(theirs, 2).tryAcquire({ permits: 2 })).toBeUndefined();
    expect(heard).toEqual([]);
  });

  it('report that they are lost, with the error of the signal, and then not that they are released', async () => {
    const { mine, key } = stage();
    const lease = await semaphores.of(mine, 2).acquire({ permits: 2 });
    const heard = eventsOf(mine);
    const { signal } = lease;
    await stage().expire(mine);
    await lease.release();
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect(heard).toEqual([
      {
        kind: 'lost',
        recipe: 'semaphore',
        heldMs: expect.any(Number),
        key,
        error: signal.reason as unknown,
      },
    ]);
  });
}
