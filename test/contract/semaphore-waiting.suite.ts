import { describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockLostError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import { earliest } from '../support/earliest.js';
import { eventually } from '../support/eventually.js';
import type { LockStage } from './lock-stage.js';
import type { SemaphoreStage } from './semaphore-stage.js';

/** Whatever ends a wait before the grant, neither a permit nor a place in the queue is left of it. */
export function semaphoreWaitingSuite(stage: () => LockStage, semaphores: SemaphoreStage): void {
  describe('up to a deadline', () => {
    it('ends with LockTimeoutError, and leaves nothing', async () => {
      const { mine, theirs, key } = stage();
      await using _ = await semaphores.of(theirs, 1).acquire();
      const start = performance.now();
      const failure = semaphores.of(mine, 1).acquire({ wait: 50 });
      await expect(failure).rejects.toBeInstanceOf(LockTimeoutError);
      await expect(failure).rejects.toMatchObject({ key, client: 'contract', waitedMs: 50 });
      expect(performance.now() - start).toBeGreaterThanOrEqual(earliest(50));
      await semaphores.becomes({ held: 1, waiting: 0 });
    });

    it('is one deadline over the place in the queue and all permits', async () => {
      const { mine, theirs } = stage();
      const held = [await semaphores.of(mine, 2).acquire(), await semaphores.of(mine, 2).acquire()];
      const stop = new AbortController();
      const { lease: front } = await semaphores.queue(mine, 2, { signal: stop.signal });
      const start = performance.now();
      const { lease } = await semaphores.queue(theirs, 2, { permits: 2, wait: 2_400 });
      await eventually('most of it is over', () => performance.now() - start > 1_600);
      stop.abort(); // it is the first now
      await expect(front).rejects.toBeInstanceOf(LockAbortedError);
      await held[0]!.release(); // one of its two is free
      await expect(lease).rejects.toBeInstanceOf(LockTimeoutError);
      expect(performance.now() - start).toBeLessThan(3_800);
      await semaphores.becomes({ held: 1, waiting: 0 });
      await held[1]!.release();
    });

    it('lets those behind move up when it ends', async () => {
      const { mine, theirs } = stage();
      const holder = await semaphores.of(mine, 1).acquire();
      const { lease: hasty } = await semaphores.queue(theirs, 1, { wait: 1_500 });
      const { lease: patient } = await semaphores.queue(mine, 1);
      await expect(hasty).rejects.toBeInstanceOf(LockTimeoutError);
      await semaphores.becomes({ held: 1, waiting: 1 });
      await holder.release();
      await (await patient).release();
    });

    it('takes the deadline of the client where the acquire names none', async () => {
      const { mine } = stage();
      const hasty = await stage().client({ wait: 30 });
      await using _ = await semaphores.of(mine, 1).acquire();
      const failure = semaphores.of(hasty, 1).acquire();
      await expect(failure).rejects.toMatchObject({ waitedMs: 30 });
      await semaphores.becomes({ held: 1, waiting: 0 });
    });

    it('also when the servers answer nothing', async () => {
      const { mine } = stage();
      const semaphore = semaphores.of(mine, 1);
      stage().freeze();
      try {
        await expect(semaphore.acquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
        await expect(semaphore.tryAcquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
      } finally {
        stage().thaw();
      }
      await stage().caughtUp(mine);
      await semaphores.becomes({ held: 0, waiting: 0 });
      await using lease = await semaphore.tryAcquire();
      expect(lease?.isHeld).toBe(true);
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

    it('does not begin when it has aborted before', async () => {
      const { mine } = stage();
      const semaphore = semaphores.of(mine, 1);
      const signal = AbortSignal.abort();
      await expect(semaphore.acquire({ signal })).rejects.toBeInstanceOf(LockAbortedError);
      await expect(semaphore.tryAcquire({ signal })).rejects.toBeInstanceOf(LockAbortedError);
      expect(mine.requests).toEqual([]);
    });

    it('is over with the grant: an abort after that changes nothing', async () => {
      const stop = new AbortController();
      await using lease = await semaphores
        .of(stage().mine, 1)
        .acquire({ signal: stop.signal, wait: 10_000 });
      stop.abort();
      expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
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

  describe('is not what tryAcquire does', () => {
    it('it takes a permit when one is free', async () => {
      const lease = await semaphores.of(stage().mine, 1).tryAcquire();
      expect(lease?.isHeld).toBe(true);
      await lease!.release();
    });

    it('it comes back with nothing when none is, and has left nothing', async () => {
      const { mine, theirs } = stage();
      await using _ = await semaphores.of(theirs, 2).acquire({ permits: 2 });
      expect(await semaphores.of(mine, 2).tryAcquire()).toBeUndefined();
      await semaphores.becomes({ held: 2, waiting: 0 });
    });
  });
}
