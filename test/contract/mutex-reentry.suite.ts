import { expect, it } from '@jest/globals';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import { LockLostError, LockNotHeldError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { Deferred } from '../support/deferred.js';
import { expectLost } from './expect-lost.js';
import type { LockStage } from './lock-stage.js';

/** Re-entry follows the async call tree: an acquire inside of a live lease of the same lock. */
export function mutexReentrySuite(stage: () => LockStage): void {
  it('goes three deep without asking the servers (Curator: testReentrant)', async () => {
    const { mine, theirs, key } = stage();
    const mutex = mine.lock(key);
    await mutex.using(async (lease) => {
      await lease.fencingToken(); // the one thing that a lease asks for once
      const asked = mine.requests.length;
      const depth = await mutex.using(() => mutex.using(() => mutex.using(async () => 3)));
      expect(depth).toBe(3);
      expect(mine.requests).toHaveLength(asked);
      expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
    });
    expect(await stage().contenders()).toEqual([]);
  });

  it('also goes through another mutex object of the key', async () => {
    const { mine, key } = stage();
    await using lease = await mine.lock(key).acquire();
    await lease.run(async () => {
      await using again = await mine.lock(key).tryAcquire();
      expect(again?.isHeld).toBe(true);
    });
  });

  it('is not for siblings, which exclude each other', async () => {
    const { mine, key } = stage();
    const mutex = mine.lock(key);
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
    await mine.lock(key).using(async () => {
      expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
    });
  });

  it('needs the scope of the lease, which is a handle, not an ambient state', async () => {
    const { mine, key } = stage();
    await using lease = await mine.lock(key).acquire();
    expect(currentLease()).toBeUndefined();
    expect(await mine.lock(key).tryAcquire()).toBeUndefined();
    await lease.run(async () => expect(currentLease()).toBe(lease));
  });

  it('is not for work that was started inside and goes on after the release', async () => {
    const { mine, theirs, key } = stage();
    const gate = new Deferred();
    let detached!: Promise<Lease | undefined>;
    await mine.lock(key).using(async () => {
      detached = gate.promise.then(() => mine.lock(key).tryAcquire());
    });
    await using _ = await theirs.lock(key).acquire();
    gate.resolve();
    expect(await detached).toBeUndefined();
  });

  it('keeps the lock held until the work that came in has let go too', async () => {
    const { mine, theirs, key } = stage();
    const mutex = mine.lock(key);
    const inner = await mutex.using(() => mutex.acquire());
    expect(inner.isHeld).toBe(true);
    expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
    await inner.release();
    await using after = await theirs.lock(key).tryAcquire();
    expect(after?.isHeld).toBe(true);
  });

  it('never revives a lost lease: the nested call queues anew', async () => {
    const { mine, key } = stage();
    const mutex = mine.lock(key);
    await mutex.using(async (lost) => {
      const token = await lost.fencingToken();
      await stage().expire(mine);
      await using fresh = await mutex.acquire();
      expect([lost.isHeld, fresh.isHeld]).toEqual([false, true]);
      expect(await fresh.fencingToken()).toBeGreaterThan(token);
      expect(() => lost.assertHeld()).toThrow(LockLostError);
      await expect(lost.run(async () => 'never')).rejects.toBeInstanceOf(LockLostError);
    });
    expect(await stage().contenders()).toEqual([]);
  });

  it('counts each handle once, however often it is released', async () => {
    const { mine, theirs, key } = stage();
    const outer = await mine.lock(key).acquire();
    const inner = await outer.run(() => mine.lock(key).acquire());
    await inner.release();
    await inner.release();
    expect([outer.isHeld, inner.isHeld]).toEqual([true, false]);
    expect(() => inner.assertHeld()).toThrow(LockNotHeldError);
    expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
    await outer.release();
  });

  it('works with tryAcquire too', async () => {
    const { mine, key } = stage();
    const mutex = mine.lock(key);
    await mutex.using(async () => {
      await using again = await mutex.tryAcquire();
      expect(again?.isHeld).toBe(true);
    });
  });

  it('is allowed after refuse(), so that what is held may end', async () => {
    const { mine, key } = stage();
    const held = await mine.lock(key).acquire();
    mine.locks.refuse();
    expect(await held.run(() => mine.lock(key).using(async () => 'done'))).toBe('done');
    await held.release();
  });

  it('emits no events: only the first acquire is reported as acquired, and only the last release as released', async () => {
    const { mine, key } = stage();
    const heard: string[] = [];
    for (const kind of ['acquired', 'released'] as const)
      mine.locks.on(kind, ({ key: about }) => heard.push(`${kind} ${about}`));
    const mutex = mine.lock(key);
    await mutex.using(async () => {
      const sofar = [...heard];
      await mutex.using(async () => {});
      expect(heard).toEqual(sofar);
    });
    expect(heard).toHaveLength(new Set(heard).size);
  });

  it('shares the loss among all handles', async () => {
    const { mine, key } = stage();
    const outer = await mine.lock(key).acquire();
    const inner = await outer.run(() => mine.lock(key).acquire());
    await stage().expire(mine);
    expectLost(outer);
    expectLost(inner);
    await Promise.all([outer.release(), inner.release()]);
  });

  it('shares the fencing token, which fits 64 bits', async () => {
    const { mine, key } = stage();
    const mutex = mine.lock(key);
    await mutex.using(async (outer) => {
      await using inner = await mutex.acquire();
      const token = await inner.fencingToken();
      expect(await outer.fencingToken()).toBe(token);
      expect(BigInt.asIntN(64, token)).toBe(token);
    });
  });
}
