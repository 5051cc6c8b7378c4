import { expect, it } from '@jest/globals';
import { currentLease } from '../../lib/core/current-lease.js';
import { LockLostError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { Deferred } from '../support/deferred.js';
import type { Stage } from './stage.js';

/** Re-entry follows the async call tree: an acquire inside of a live lease of the same lock. */
export function mutexReentrySuite(stage: () => Stage): void {
  it('goes three deep without asking the servers (Curator: testReentrant)', async () => {
    const { mine, theirs, key } = stage();
    const mutex = mine.mutex(key);
    await mutex.using(async (lease) => {
      await lease.fencingToken(); // the one thing that a lease asks for once
      const asked = mine.requests.length;
      const depth = await mutex.using(() => mutex.using(() => mutex.using(async () => 3)));
      expect(depth).toBe(3);
      expect(mine.requests).toHaveLength(asked);
      expect(await theirs.mutex(key).tryAcquire()).toBeUndefined();
    });
    expect(await stage().nodes()).toEqual([]);
  });

  it('also goes through another mutex object of the key, and through the path of the key', async () => {
    const { mine, key, path } = stage();
    await using lease = await mine.mutex(key).acquire();
    await lease.run(async () => {
      await using byKey = await mine.mutex(key).tryAcquire();
      await using byPath = await mine.mutex(path).tryAcquire();
      expect([byKey?.isHeld, byPath?.isHeld]).toEqual([true, true]);
    });
  });

  it('is not for siblings, who exclude each other', async () => {
    const { mine, key } = stage();
    const mutex = mine.mutex(key);
    const story: string[] = [];
    const work = (name: string) =>
      mutex.using(async () => {
        story.push(`${name} enters`);
        await mutex.using(async () => {});
        story.push(`${name} leaves`);
      });
    await Promise.all([work('a'), work('b')]);
    expect(story).toEqual(['a enters', 'a leaves', 'b enters', 'b leaves']);
  });

  it('does not go through another client', async () => {
    const { mine, theirs, key } = stage();
    await mine.mutex(key).using(async () => {
      expect(await theirs.mutex(key).tryAcquire()).toBeUndefined();
    });
  });

  it('needs the scope of the lease, which is a handle, not an ambient state', async () => {
    const { mine, key } = stage();
    await using lease = await mine.mutex(key).acquire();
    expect(currentLease()).toBeUndefined();
    expect(await mine.mutex(key).tryAcquire()).toBeUndefined();
    await lease.run(async () => expect(currentLease()).toBe(lease));
  });

  it('is not for work that was started inside and goes on after the release', async () => {
    const { mine, theirs, key } = stage();
    const gate = new Deferred();
    let detached!: Promise<Lease | undefined>;
    await mine.mutex(key).using(async () => {
      detached = gate.promise.then(() => mine.mutex(key).tryAcquire());
    });
    await using _ = await theirs.mutex(key).acquire();
    gate.resolve();
    expect(await detached).toBeUndefined();
  });

  it('keeps the lock held until the work that came in has let go too', async () => {
    const { mine, theirs, key } = stage();
    const mutex = mine.mutex(key);
    const inner = await mutex.using(() => mutex.acquire());
    expect(inner.isHeld).toBe(true);
    expect(await theirs.mutex(key).tryAcquire()).toBeUndefined();
    await inner.release();
    await using after = await theirs.mutex(key).tryAcquire();
    expect(after?.isHeld).toBe(true);
  });

  it('never revives a lost lease: the nested call queues anew', async () => {
    const { mine, key } = stage();
    const mutex = mine.mutex(key);
    await mutex.using(async (lost) => {
      const token = await lost.fencingToken();
      await stage().expire(mine);
      await using fresh = await mutex.acquire();
      expect([lost.isHeld, fresh.isHeld]).toEqual([false, true]);
      expect(await fresh.fencingToken()).toBeGreaterThan(token);
      expect(() => lost.assertHeld()).toThrow(LockLostError);
      await expect(lost.run(async () => 'never')).rejects.toBeInstanceOf(LockLostError);
    });
    expect(await stage().nodes()).toEqual([]);
  });
}
