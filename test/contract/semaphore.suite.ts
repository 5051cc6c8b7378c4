import { describe, expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { CriticalSection } from '../faults/support/leases.js';
import { eventually, isSettled } from '../support/time.js';
import { type SemaphoreStage, ZooKeeperSemaphoreStage } from './backends/semaphores.js';
import { type Deployment, type LockStage, onStage, type StageClient } from './backends/stage.js';
import { type Backend, Stage } from './backends/zookeeper.js';
import { lockOptionsSuite, lockWaitSuite } from './lock-waits.suite.js';
import {
  semaphoreCountSuite,
  semaphoreFaultsSuite,
  semaphoreNodesFaultsSuite,
} from './semaphore-faults.suite.js';
import {
  semaphoreEventsSuite,
  semaphoreLeaseSuite,
  semaphoreWaitingSuite,
} from './semaphore-waiting.suite.js';
import {
  semaphoreCostSuite,
  semaphoreNodesOptionsSuite,
  semaphoreOptionsSuite,
  semaphoreZnodesSuite,
} from './semaphore-znodes.suite.js';

/** What every semaphore promises, and what there is to those of ZooKeeper. */
export function semaphoreSuite(on: Deployment<Backend>): void {
  describe(`A semaphore on ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend()));
    everySemaphoreSuite(on, stage, new ZooKeeperSemaphoreStage(stage));
    on.part('permits from a shared count', 'server', () => semaphoreCountSuite(stage));
    on.part('the znodes', 'server', () => semaphoreZnodesSuite(stage));
    on.part('the cost', 'server', () => semaphoreCostSuite(stage));
    on.part('bad input for the znodes', 'server', () => semaphoreNodesOptionsSuite(stage));
    on.part('accidents of the znodes', 'deployment', () => semaphoreNodesFaultsSuite(stage));
  });
}

/**
 * Everything that a semaphore promises, whatever servers it stands on. It contains the cases of Curator's
 * TestInterProcessSemaphore, each named where it stands, but for those of its shared counts and znodes.
 */
export function everySemaphoreSuite<B>(
  on: Deployment<B>,
  stage: () => LockStage,
  semaphores: SemaphoreStage,
): void {
  on.part('permits', 'deployment', () => semaphorePermitsSuite(stage, semaphores));
  on.part('several permits', 'deployment', () => semaphoreSeveralSuite(stage, semaphores));
  const waitedFor = {
    wanted: (client: StageClient) => semaphores.of(client, 1),
    areLeft: (held: number) => semaphores.becomes({ held, waiting: 0 }),
  };
  on.part('waiting for one', 'server', () => lockWaitSuite(stage, waitedFor));
  on.part('waiting', 'server', () => semaphoreWaitingSuite(stage, semaphores));
  on.part('bad options', 'client', () => lockOptionsSuite(stage, waitedFor));
  on.part('the lease', 'deployment', () => semaphoreLeaseSuite(stage, semaphores));
  on.part('events', 'client', () => semaphoreEventsSuite(stage, semaphores));
  on.part('bad input', 'client', () => semaphoreOptionsSuite(stage, semaphores));
  on.part('accidents', 'recipe', () => semaphoreFaultsSuite(stage, semaphores));
}

/** So many holders at a time, in the order in which they asked. */
function semaphorePermitsSuite(stage: () => LockStage, semaphores: SemaphoreStage): void {
  it('keep the second out when there is one (Curator: TestInterProcessSemaphore testSimple)', async () => {
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

  it('go to one user after the other of one object (Curator: testThreads) (Redisson: RedissonPermitExpirableSemaphoreTest testConcurrency_SingleInstance)', async () => {
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

  it('are never held in greater number than there are, whichever client asks (Curator: testMaxPerSession) (Redisson: RedissonPermitExpirableSemaphoreTest testConcurrencyLoop_MultiInstance)', async () => {
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

/** Several permits by one acquire: all together or none. */
function semaphoreSeveralSuite(stage: () => LockStage, semaphores: SemaphoreStage): void {
  it('are granted together and released together', async () => {
    const { mine, theirs } = stage();
    const lease = await semaphores.of(mine, 5).acquire({ permits: 3 });
    await semaphores.becomes({ held: 3, waiting: 0 });
    expect(await semaphores.of(theirs, 5).tryAcquire({ permits: 3 })).toBeUndefined();
    await using rest = await semaphores.of(theirs, 5).tryAcquire({ permits: 2 });
    expect(rest?.isHeld).toBe(true);
    await lease.release();
    await semaphores.becomes({ held: 2, waiting: 0 });
  });

  it('may be all of them', async () => {
    const { mine, theirs } = stage();
    await semaphores.of(mine, 4).using(
      async () => {
        expect(await semaphores.of(theirs, 4).tryAcquire()).toBeUndefined();
      },
      { permits: 4 },
    );
    await using all = await semaphores.of(theirs, 4).tryAcquire({ permits: 4 });
    expect(all?.isHeld).toBe(true);
  });

  it('do not starve two clients that each want 2 of 2 at the same time (Redisson: RedissonPermitExpirableSemaphoreTest testAcquireAsyncMany)', async () => {
    const { mine, theirs } = stage();
    const section = new CriticalSection();
    const rounds = async (client: StageClient) => {
      const semaphore = semaphores.of(client, 2);
      const visit = async () => {
        section.enter('a client');
        await semaphore.availablePermits(); // a turn of the servers
        section.leave();
      };
      for (let round = 0; round < 12; round++)
        await semaphore.using(visit, { permits: 2, wait: 10_000 });
    };
    await Promise.all([rounds(mine), rounds(theirs)]);
    expect(section.most).toBe(1);
    expect(section.visitors).toHaveLength(24);
  });

  if (semaphores.isFair)
    it('are waited for as a whole: a caller that wants less may not overtake', async () => {
      const { mine, theirs } = stage();
      const held = await semaphores.of(mine, 3).acquire({ permits: 2 });
      const story: string[] = [];
      const { lease: big } = await semaphores.queue(theirs, 3, { permits: 3 });
      const { lease: small } = await semaphores.queue(mine, 3, { permits: 1 });
      const [allThree, one] = [big, small].map(async (lease, n) => {
        const granted = await lease;
        story.push(n === 0 ? 'all three' : 'one');
        return granted;
      });
      await semaphores.becomes({ held: 2, waiting: 2, next: 3 });
      expect(await semaphores.of(mine, 3).tryAcquire()).toBeUndefined();
      expect(story).toEqual([]);
      await held.release();
      await (await allThree)!.release();
      await (await one)!.release();
      expect(story).toEqual(['all three', 'one']);
    });
  else
    it('are waited for while others that want less get some, and granted once enough are free', async () => {
      const { mine, theirs } = stage();
      const held = await semaphores.of(mine, 3).acquire({ permits: 2 });
      const { lease: big } = await semaphores.queue(theirs, 3, { permits: 3 });
      const small = await semaphores.of(mine, 3).acquire({ wait: 10_000 });
      await held.release();
      await stage().caughtUp(theirs);
      expect(await isSettled(big)).toBe(false);
      await small.release();
      await using all = await big;
      expect(all.isHeld).toBe(true);
    });

  it('keep those of one client in their order, whatever each of them wants', async () => {
    const { mine, theirs } = stage();
    const held = await semaphores.of(theirs, 3).acquire({ permits: 3 });
    const { lease: big } = await semaphores.queue(mine, 3, { permits: 3 });
    const { lease: small } = await semaphores.queue(mine, 3);
    await held.release();
    const all = await big;
    expect(await isSettled(small)).toBe(false);
    await all.release();
    await (await small).release();
  });

  it('leave the ones that are free to others when tryAcquire cannot have enough', async () => {
    const { mine, theirs } = stage();
    await using _ = await semaphores.of(mine, 3).acquire({ permits: 2 });
    expect(await semaphores.of(theirs, 3).tryAcquire({ permits: 2 })).toBeUndefined();
    await semaphores.becomes({ held: 2, waiting: 0 });
    await using last = await semaphores.of(theirs, 3).tryAcquire();
    expect(last?.isHeld).toBe(true);
  });

  it('keep none of them when the time is up', async () => {
    const { mine, theirs } = stage();
    await using _ = await semaphores.of(mine, 3).acquire({ permits: 2 });
    const late = semaphores.of(theirs, 3).acquire({ permits: 2, wait: 50 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await semaphores.becomes({ held: 2, waiting: 0 });
    await using last = await semaphores.of(theirs, 3).tryAcquire();
    expect(last?.isHeld).toBe(true);
  });
}
