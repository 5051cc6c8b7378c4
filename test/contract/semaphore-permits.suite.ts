import { expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { CriticalSection } from '../integration/support/critical-section.js';
import { eventually } from '../support/eventually.js';
import type { LockStage } from './lock-stage.js';
import type { SemaphoreStage } from './semaphore-stage.js';
import type { StageClient } from './stage-client.js';

/** So many holders at a time, in the order in which they asked. */
export function semaphorePermitsSuite(stage: () => LockStage, semaphores: SemaphoreStage): void {
  it('keep the second out when there is one (Curator: testSimple)', async () => {
    const { mine, theirs } = stage();
    await using _ = await semaphores.of(mine, 1).acquire({ wait: 10_000 });
    const second = semaphores.of(mine, 1).acquire({ wait: 50 });
    await expect(second).rejects.toBeInstanceOf(LockTimeoutError);
    expect(await semaphores.of(theirs, 1).tryAcquire()).toBeUndefined();
  });

  it('are granted again when they were released (Curator: testSimple2)', async () => {
    const { mine, theirs } = stage();
    const first = await semaphores.of(mine, 1).acquire({ wait: 10_000 });
    await first.release();
    await using second = await semaphores.of(theirs, 1).acquire({ wait: 10_000 });
    expect([first.isHeld, second.isHeld]).toEqual([false, true]);
  });

  it('go to one user after the other of one object (Curator: testThreads)', async () => {
    const semaphore = semaphores.of(stage().mine, 1);
    const section = new CriticalSection();
    const visit = async () => {
      section.enter('mine');
      await semaphore.availablePermits(); // a turn of the servers
      section.leave();
    };
    await Promise.all(Array.from({ length: 10 }, () => semaphore.using(visit)));
    expect(section.most).toBe(1);
    expect(section.visitors).toHaveLength(10);
  });

  it('are never held in greater number than there are, whichever client asks (Curator: testMaxPerSession)', async () => {
    const { mine, theirs } = stage();
    const others = await Promise.all([1, 2, 3].map(() => stage().client()));
    const section = new CriticalSection();
    const visit = async (client: StageClient) => {
      section.enter('a client');
      await semaphores.of(client, 3).availablePermits(); // a turn of the servers
      section.leave();
    };
    await Promise.all(
      [mine, theirs, ...others].flatMap((client) =>
        Array.from({ length: 8 }, () => semaphores.of(client, 3).using(() => visit(client))),
      ),
    );
    expect(section.visitors).toHaveLength(40);
    expect(section.most).toBeLessThanOrEqual(3);
  });

  const order = semaphores.isFair ? 'in the order of the queue' : 'in the order of each client';
  it(`are handed on one by one, ${order} (Curator: testRelease1AtATime)`, async () => {
    const { mine, theirs } = stage();
    const held = [];
    for (let n = 0; n < 5; n++) held.push(await semaphores.of(mine, 5).acquire());
    const served: number[] = [];
    const waiting: Promise<Lease>[] = [];
    for (let n = 0; n < 10; n++) {
      const { lease } = await semaphores.queue(n % 2 ? mine : theirs, 5);
      waiting.push(lease.then((granted) => (served.push(n), granted)));
    }
    for (const [n, lease] of held.entries()) {
      await lease.release();
      await eventually('the next one has it', () => served.length > n);
      await semaphores.becomes({ held: 5, waiting: 9 - n });
      expect(served).toHaveLength(n + 1);
    }
    for (let n = 0; n < 10; n++) {
      await (await waiting[served[n]!])!.release();
      await eventually('the next one has it', () => served.length === Math.min(n + 6, 10));
    }
    expectInOrder(served);
    await semaphores.becomes({ held: 0, waiting: 0 });
  });

  it('serve a hundred callers that release them in chunks (Curator: testReleaseInChunks)', async () => {
    const { mine, theirs } = stage();
    const [most, visitors] = [11, 100];
    const inside: Lease[] = [];
    let [served, mostInside] = [0, 0];
    const visits = Array.from({ length: visitors }, async (_, n) => {
      inside.push(await semaphores.of(n % 2 ? mine : theirs, most).acquire());
      mostInside = Math.max(mostInside, inside.length);
      served += 1;
    });
    for (let chunk = 1; served < visitors; chunk = (chunk % most) + 1) {
      await eventually('all are taken', () => inside.length === most || served === visitors);
      await Promise.all(inside.splice(0, chunk).map((lease) => lease.release()));
    }
    await Promise.all(visits);
    expect(mostInside).toBe(most);
    await Promise.all(inside.map((lease) => lease.release()));
    await semaphores.becomes({ held: 0, waiting: 0 });
  });

  it('are counted as available when no client holds them', async () => {
    const { mine, theirs } = stage();
    const available = async () => {
      await stage().caughtUp(theirs);
      return semaphores.of(theirs, 3).availablePermits();
    };
    expect(await available()).toBe(3);
    const first = await semaphores.of(mine, 3).acquire();
    expect(await available()).toBe(2);
    const both = await semaphores.of(mine, 3).acquire({ permits: 2 });
    expect(await available()).toBe(0);
    const { lease } = await semaphores.queue(theirs, 3);
    await semaphores.becomes({ held: 3, waiting: 1 });
    expect(await available()).toBe(0);
    await first.release();
    await both.release();
    await (await lease).release();
    expect(await available()).toBe(3);
  });

  it('are taken anew by a nested acquire: it does not re-enter', async () => {
    const semaphore = semaphores.of(stage().mine, 2);
    await semaphore.using(async () => {
      await semaphore.using(async () => {
        await semaphores.becomes({ held: 2, waiting: 0 });
        expect(await semaphore.tryAcquire()).toBeUndefined();
        await expect(semaphore.acquire({ wait: 20 })).rejects.toBeInstanceOf(LockTimeoutError);
      });
      await semaphores.becomes({ held: 1, waiting: 0 });
    });
  });

  it('are others in another namespace', async () => {
    const { mine, theirs, key } = stage();
    const inside = await stage().client({ namespace: `namespace-of-${key}` });
    await using outer = await semaphores.of(mine, 1).acquire();
    await using inner = await semaphores.of(inside, 1).acquire();
    expect([outer.isHeld, inner.isHeld]).toEqual([true, true]);
    expect(await semaphores.of(theirs, 1).tryAcquire()).toBeUndefined();
    expect(await semaphores.of(inside, 1).tryAcquire()).toBeUndefined();
  });

  /** Of two clients that queue by turns. */
  function expectInOrder(served: readonly number[]): void {
    const inOrder = Array.from(served, (_, n) => n);
    if (semaphores.isFair) return expect(served).toEqual(inOrder);
    for (const client of [0, 1])
      expect(served.filter((n) => n % 2 === client)).toEqual(
        inOrder.filter((n) => n % 2 === client),
      );
  }
}
