import { describe, expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { CriticalSection } from '../integration/support/critical-section.js';
import { eventually } from '../support/eventually.js';
import type { Client } from './client.js';
import { SemaphoreStage } from './semaphore-stage.js';
import type { Stage } from './stage.js';

/** So many holders at a time, in the order in which they asked. */
export function semaphorePermitsSuite(stage: () => Stage): void {
  const semaphores = new SemaphoreStage(stage);

  it('keeps the second out when there is one (Curator: testSimple)', async () => {
    const { mine, theirs } = stage();
    await using _ = await semaphores.of(mine, 1).acquire({ wait: 10_000 });
    const second = semaphores.of(mine, 1).acquire({ wait: 50 });
    await expect(second).rejects.toBeInstanceOf(LockTimeoutError);
    expect(await semaphores.of(theirs, 1).tryAcquire()).toBeUndefined();
  });

  it('are granted again when they were given back (Curator: testSimple2)', async () => {
    const { mine, theirs } = stage();
    const first = await semaphores.of(mine, 1).acquire({ wait: 10_000 });
    await first.release();
    await using second = await semaphores.of(theirs, 1).acquire({ wait: 10_000 });
    expect([first.isHeld, second.isHeld]).toEqual([false, true]);
  });

  it('go to one user after the other of one object (Curator: testThreads)', async () => {
    const semaphore = semaphores.of(stage().mine, 1);
    const section = new CriticalSection();
    await Promise.all(
      Array.from({ length: 10 }, () => semaphore.using(() => visit(section, 'mine'))),
    );
    expect(section.most).toBe(1);
    expect(section.visitors).toHaveLength(10);
  });

  it('are never given to more than there are, whoever asks (Curator: testMaxPerSession)', async () => {
    const clients = await fiveClients();
    const section = new CriticalSection();
    await Promise.all(
      clients.flatMap((client, n) =>
        Array.from({ length: 8 }, () =>
          semaphores.of(client, 3).using(() => visit(section, `client ${n}`)),
        ),
      ),
    );
    expect(section.visitors).toHaveLength(40);
    expect(section.most).toBeLessThanOrEqual(3);
  });

  it('are handed on one by one, in the order of the queue (Curator: testRelease1AtATime)', async () => {
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
      await waiting[n];
      expect(served).toHaveLength(n + 1);
    }
    await semaphores.becomes({ leases: 6, gate: 5 }); // the next one has its node already
    for (const lease of waiting) await (await lease).release();
    expect(served).toEqual(Array.from({ length: 10 }, (_, n) => n));
    await semaphores.becomes({ leases: 0, gate: 0 });
  });

  it('serve a hundred who give them back in chunks (Curator: testReleaseInChunks)', async () => {
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
    await semaphores.becomes({ leases: 0, gate: 0 });
  });

  it('are counted: those that nobody has', async () => {
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
    await semaphores.becomes({ leases: 4, gate: 1 });
    expect(await available()).toBe(0);
    await first.release();
    await both.release();
    await (await lease).release();
    expect(await available()).toBe(3);
  });

  it('are taken anew by a nested acquire: it does not re-enter', async () => {
    const { mine } = stage();
    const semaphore = semaphores.of(mine, 2);
    await semaphore.using(async () => {
      await semaphore.using(async () => {
        expect(await semaphores.leases()).toHaveLength(2);
        expect(await semaphore.tryAcquire()).toBeUndefined();
        await expect(semaphore.acquire({ wait: 20 })).rejects.toBeInstanceOf(LockTimeoutError);
      });
    });
  });

  describe('several at once', () => {
    it('are granted together and given back together', async () => {
      const { mine, theirs } = stage();
      const lease = await semaphores.of(mine, 5).acquire({ permits: 3 });
      expect(await semaphores.leases()).toHaveLength(3);
      expect(await semaphores.of(theirs, 5).tryAcquire({ permits: 3 })).toBeUndefined();
      await using rest = await semaphores.of(theirs, 5).tryAcquire({ permits: 2 });
      expect(rest?.isHeld).toBe(true);
      await lease.release();
      expect(await semaphores.leases()).toHaveLength(2);
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

    it('do not starve two clients who each want 2 of 2 at the same time', async () => {
      const { mine, theirs } = stage();
      const section = new CriticalSection();
      const rounds = async (client: Client, name: string) => {
        for (let round = 0; round < 12; round++)
          await semaphores
            .of(client, 2)
            .using(() => visit(section, name), { permits: 2, wait: 10_000 });
      };
      await Promise.all([rounds(mine, 'mine'), rounds(theirs, 'theirs')]);
      expect(section.most).toBe(1);
      expect(section.visitors).toHaveLength(24);
    });

    it('are waited for as a whole: who wants less may not overtake', async () => {
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
      await semaphores.becomes({ leases: 5, gate: 2 });
      expect(await semaphores.of(mine, 3).tryAcquire()).toBeUndefined();
      expect(story).toEqual([]);
      await held.release();
      await (await allThree)!.release();
      await (await one)!.release();
      expect(story).toEqual(['all three', 'one']);
    });

    it('leave the ones that are free to others when tryAcquire cannot have enough', async () => {
      const { mine, theirs } = stage();
      await using _ = await semaphores.of(mine, 3).acquire({ permits: 2 });
      expect(await semaphores.of(theirs, 3).tryAcquire({ permits: 2 })).toBeUndefined();
      expect(await semaphores.leases()).toHaveLength(2);
      await using last = await semaphores.of(theirs, 3).tryAcquire();
      expect(last?.isHeld).toBe(true);
    });

    it('keep none of them when the time is up', async () => {
      const { mine, theirs } = stage();
      await using _ = await semaphores.of(mine, 3).acquire({ permits: 2 });
      const late = semaphores.of(theirs, 3).acquire({ permits: 2, wait: 50 });
      await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
      await semaphores.becomes({ leases: 2, gate: 0 });
      await using last = await semaphores.of(theirs, 3).tryAcquire();
      expect(last?.isHeld).toBe(true);
    });
  });

  async function visit(section: CriticalSection, visitor: string): Promise<void> {
    section.enter(visitor);
    await stage().stranger.exists('/'); // a turn of the servers
    section.leave();
  }

  async function fiveClients(): Promise<Client[]> {
    const { mine, theirs } = stage();
    const others = await Promise.all([1, 2, 3].map(() => stage().client()));
    return [mine, theirs, ...others];
  }
}
