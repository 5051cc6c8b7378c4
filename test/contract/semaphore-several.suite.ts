import { expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import { CriticalSection } from '../integration/support/critical-section.js';
import { isSettled } from '../support/is-settled.js';
import type { LockStage } from './lock-stage.js';
import type { SemaphoreStage } from './semaphore-stage.js';
import type { StageClient } from './stage-client.js';

/** Several permits by one acquire: all together or none. */
export function semaphoreSeveralSuite(stage: () => LockStage, semaphores: SemaphoreStage): void {
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

  it('do not starve two clients that each want 2 of 2 at the same time', async () => {
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
