import { expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import type { LockStage } from './lock-stage.js';
import type { SemaphoreStage } from './semaphore-stage.js';

/** The accidents that every backend can have. */
export function semaphoreFaultsSuite(stage: () => LockStage, semaphores: SemaphoreStage): void {
  it('servers go and come back: holders and waiters are still there, and nothing is orphaned (Curator: testAcquireAfterLostServer)', async () => {
    const { mine, theirs } = stage();
    const holder = await semaphores.of(mine, 2).acquire({ permits: 2 });
    const token = await holder.fencingToken();
    const { lease: waiting } = await semaphores.queue(theirs, 2);
    await semaphores.becomes({ held: 2, waiting: 1 });
    await stage().down();
    const late = semaphores.of(theirs, 2).acquire();
    await stage().up();
    expect([holder.isHeld, holder.signal.aborted]).toEqual([true, false]);

    await holder.release();
    const next = await waiting;
    expect(await next.fencingToken()).toBeGreaterThan(token);
    await (await late).release();
    await next.release();
    await semaphores.becomes({ held: 0, waiting: 0 });
  });

  it('servers are away: waits end on time, and a release goes on when they are back', async () => {
    const { mine, theirs } = stage();
    const holder = await semaphores.of(mine, 1).acquire();
    await stage().down();
    const semaphore = semaphores.of(theirs, 1);
    await expect(semaphore.acquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(semaphore.tryAcquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
    const patient = semaphore.acquire();
    await holder.release();
    await stage().up();
    await (await patient).release();
    await semaphores.becomes({ held: 0, waiting: 0 });
  });

  it('the servers forget a waiter: it waits again, and is served', async () => {
    const { mine, theirs } = stage();
    const holder = await semaphores.of(mine, 2).acquire({ permits: 2 });
    const { lease: front } = await semaphores.queue(theirs, 2, { permits: 2 });
    const { lease: behind } = await semaphores.queue(mine, 2, { permits: 2 });
    await stage().expire(theirs);
    await semaphores.becomes({ held: 2, waiting: 2, next: 2 });
    await holder.release();
    const served: string[] = [];
    const serve = async (name: string, waiting: Promise<Lease>) => {
      const lease = await waiting;
      served.push(name);
      expect(await semaphores.of(theirs, 2).tryAcquire()).toBeUndefined();
      await semaphores.becomes({ held: 2, waiting: 2 - served.length, next: 2 });
      await lease.release();
    };
    await Promise.all([serve('forgotten', front), serve('behind', behind)]);
    expect(semaphores.isFair ? served : served.sort()).toEqual(['behind', 'forgotten']);
  });

  it('the servers forget a waiter while some of what it wants is free: it gets all of it, later', async () => {
    const { mine, theirs } = stage();
    const holder = await semaphores.of(mine, 2).acquire();
    const { lease: waiting } = await semaphores.queue(theirs, 2, { permits: 2 });
    await semaphores.becomes({ held: 1, waiting: 1, next: 2 });
    await stage().expire(theirs);
    await semaphores.becomes({ held: 1, waiting: 1, next: 2 });
    await holder.release();
    await using lease = await waiting;
    expect(lease.isHeld).toBe(true);
    await semaphores.becomes({ held: 2, waiting: 0 });
  });
}
