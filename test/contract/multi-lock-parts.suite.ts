import { describe, expect, it } from '@jest/globals';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import { LockOptionsError, LockUpgradeError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import type { Lock } from '../../lib/core/lock.js';
import { createEmbeddedLockClient } from '../../lib/embedded/create-embedded-lock-client.js';
import type { Client } from './client.js';
import type { Stage } from './stage.js';

/** Which locks may be held as one, and what holding them as one means for each. */
export function multiLockPartsSuite(stage: () => Stage): void {
  /** Keys that sort as they are given here. */
  const keys = () => ['a', 'b', 'c'].map((part) => `${stage().key}-${part}`);

  it('are held one and all: each of them keeps others out', async () => {
    const { mine, theirs } = stage();
    const parts = keys();
    await using lease = await mine.locks
      .multiLock(parts.map((key) => mine.locks.mutex(key)))
      .acquire();
    expect(lease.isHeld).toBe(true);
    const others = await Promise.all(parts.map((key) => theirs.locks.mutex(key).tryAcquire()));
    expect(others).toEqual([undefined, undefined, undefined]);
  });

  it('may be of every kind', async () => {
    const { mine, theirs, key } = stage();
    const locksOf = ({ locks }: Client) => ({
      mutex: locks.mutex(`${key}-mutex`),
      reader: locks.readWriteLock(`${key}-read`).readLock(),
      writer: locks.readWriteLock(`${key}-write`).writeLock(),
      permit: locks.semaphore(`${key}-semaphore`, { permits: 2 }),
      semaphoreMutex: locks.semaphoreMutex(`${key}-semaphore-mutex`),
    });
    const free = async () => {
      const found: string[] = [];
      for (const [name, lock] of Object.entries<Lock>(locksOf(theirs))) {
        await using lease = await lock.tryAcquire();
        if (lease) found.push(name);
      }
      return found;
    };
    await mine.locks.multiLock(Object.values(locksOf(mine))).using(async () => {
      expect(await free()).toEqual(['reader', 'permit']);
    });
    expect(await free()).toEqual(Object.keys(locksOf(mine)));
  });

  it('are on the chain inside: what is reentrant re-enters, what is not waits', async () => {
    const { mine, key } = stage();
    const [mutex, semaphore] = [
      mine.locks.mutex(`${key}-a`),
      mine.locks.semaphore(`${key}-b`, { permits: 1 }),
    ];
    const rw = mine.locks.readWriteLock(`${key}-c`);
    const multi = mine.locks.multiLock([semaphore, mutex, rw.writeLock()]);
    await multi.using(async (lease) => {
      expect(currentLease()).toBe(lease);
      await mutex.using(async (inner) => expect(currentLease()).toBe(inner));
      await rw.readLock().using(async (inner) => expect(inner.isHeld).toBe(true)); // a downgrade
      expect(await semaphore.tryAcquire()).toBeUndefined();
      expect(currentLease()).toBe(lease);
    });
    expect(currentLease()).toBeUndefined();
  });

  it('that the caller holds already are re-entered, and stay when the multi-lock is released', async () => {
    const { mine, theirs } = stage();
    const [a, b] = keys().map((key) => mine.locks.mutex(key));
    await b!.using(async (outer) => {
      const lease = await mine.locks.multiLock([a!, b!]).acquire();
      await lease.release();
      expect(outer.isHeld).toBe(true);
      expect(await theirs.locks.mutex(b!.key).tryAcquire()).toBeUndefined();
      await using other = await theirs.locks.mutex(a!.key).tryAcquire();
      expect(other?.isHeld).toBe(true);
    });
  });

  it('may be named by their paths: that is a re-entry too', async () => {
    const { mine, key, path } = stage();
    await mine.lock(key).using(async () => {
      await using byPath = await mine.lock(path).tryAcquire();
      expect(byPath?.isHeld).toBe(true);
    });
  });

  it('do not upgrade: a write lock inside of a held read lock is refused, and the others are released', async () => {
    const { mine } = stage();
    const [a, c] = keys();
    const rw = mine.locks.readWriteLock(c!);
    const multi = mine.locks.multiLock([mine.locks.mutex(a!), rw.writeLock()]);
    await rw.readLock().using(async () => {
      await expect(multi.acquire()).rejects.toBeInstanceOf(LockUpgradeError);
      await expect(multi.tryAcquire()).rejects.toBeInstanceOf(LockUpgradeError);
    });
    await using lease = await multi.tryAcquire();
    expect(lease?.isHeld).toBe(true);
  });

  it('that are multi-locks stand for their own parts', async () => {
    const { mine, theirs } = stage();
    const [a, b, c] = keys().map((key) => mine.locks.mutex(key));
    const inner = mine.locks.multiLock([c!, b!]);
    const outer = mine.locks.multiLock([inner, a!, b!]); // b twice
    await outer.using(async () => {
      await inner.using(async () => {});
      for (const key of keys()) {
        expect(await theirs.locks.mutex(key).tryAcquire()).toBeUndefined();
        expect(await stage().nodes(`/locks/${key}`)).toHaveLength(1);
      }
    });
  });

  it('are refused when two of them would wait for each other', () => {
    const { mine, key } = stage();
    const rw = mine.locks.readWriteLock(key);
    const semaphore = mine.locks.semaphore(`${key}-s`, { permits: 2 });
    for (const locks of [[rw.readLock(), rw.writeLock()], [semaphore, semaphore], []])
      expect(() => mine.locks.multiLock(locks)).toThrow(LockOptionsError);
  });

  describe('may belong to different clients', () => {
    it('of the same servers', async () => {
      const { mine, theirs } = stage();
      const [a, b] = keys();
      const multi = mine.locks.multiLock([theirs.locks.mutex(b!), mine.locks.mutex(a!)]);
      const lease = await multi.acquire();
      expect(await theirs.locks.mutex(a!).tryAcquire()).toBeUndefined();
      expect(await mine.locks.mutex(b!).tryAcquire()).toBeUndefined();
      await lease.release();
      for (const key of [a, b]) expect(await stage().nodes(`/locks/${key}`)).toEqual([]);
    });

    it('of these servers and of the embedded tree', async () => {
      const { mine, theirs } = stage();
      const [a, b] = keys();
      const embedded = createEmbeddedLockClient('in this process');
      await embedded.connect();
      try {
        const multi = embedded.multiLock([mine.locks.mutex(b!), embedded.mutex(a!)]);
        await multi.using(async (lease) => {
          expect(await lease.fencingToken()).toBeGreaterThan(0n);
          expect(await embedded.mutex(a!).using(async () => 're-entered')).toBe('re-entered');
          expect(await theirs.locks.mutex(b!).tryAcquire()).toBeUndefined();
        });
        await using taken = await theirs.locks.mutex(b!).acquire();
        expect(await multi.tryAcquire()).toBeUndefined();
        expect(await embedded.mutex(a!).participants()).toEqual([]);
        await taken.release();
        await using lease = await multi.acquire();
        await embedded.close();
        expect(lease.isHeld).toBe(false); // one of its parts is not
      } finally {
        await embedded.close();
      }
    });
  });

  describe('have a fencing token together', () => {
    it('that grows with every grant', async () => {
      const { mine, theirs } = stage();
      const tokens: bigint[] = [];
      for (const client of [mine, theirs, mine, theirs]) {
        const locks = keys().map((key) => client.locks.mutex(key));
        const note = async (lease: Lease) => void tokens.push(await lease.fencingToken());
        await client.locks.multiLock(locks).using(note);
        await client.locks.mutex(keys()[1]!).using(async () => {}); // one may be granted more often
      }
      for (const [i, token] of tokens.entries())
        if (i > 0) expect(token).toBeGreaterThan(tokens[i - 1]!);
    });
  });
}
