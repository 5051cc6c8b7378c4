import { describe, expect, it } from '@jest/globals';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import {
  LockAbortedError,
  LockOptionsError,
  LockUpgradeError,
} from '../../lib/core/errors/index.js';
import type { Lock } from '../../lib/core/lock.js';
import { createEmbeddedLockClient } from '../../lib/embedded/create-embedded-lock-client.js';
import { eventually } from '../support/eventually.js';
import { expectLost } from './expect-lost.js';
import type { RedisStageClient } from './redis-stage-client.js';
import type { RedisStage } from './redis-stage.js';
import { redisMultiLockWays } from './redis-multi-lock-ways.js';

/** Which locks on Redis may be held as one, and what holding them as one means for each. */
export function redisMultiLockPartsSuite(stage: () => RedisStage): void {
  /** Keys of one slot that sort as they are given here. */
  const keys = () => ['a', 'b', 'c'].map((part) => `{${stage().key}}-${part}`);

  describe.each(redisMultiLockWays)('%s', (_, partOf) => {
    const partsOf = ({ locks }: RedisStageClient) => keys().map((key) => partOf(locks, key));
    const multiOf = (client: RedisStageClient) => client.locks.multiLock(partsOf(client));
    const isFree = async (part: number) => {
      await using lease = await partsOf(stage().theirs)[part]!.tryAcquire();
      return lease !== undefined;
    };

    it('are held one and all: each of them keeps others out', async () => {
      await using lease = await multiOf(stage().mine).acquire();
      expect(lease.isHeld).toBe(true);
      for (const part of [0, 1, 2]) expect(await isFree(part)).toBe(false);
    });

    it('are on the chain inside: each of them is re-entered', async () => {
      const { mine } = stage();
      const multi = multiOf(mine);
      await multi.using(async (lease) => {
        expect(currentLease()).toBe(lease);
        const asked = mine.requests.length;
        await partsOf(mine)[1]!.using(async (inner) => expect(currentLease()).toBe(inner));
        await multi.using(async (inner) => expect(inner.isHeld).toBe(true));
        expect(mine.requests).toHaveLength(asked);
      });
    });

    it('that the caller holds already are re-entered, and stay when the multi-lock is released', async () => {
      const { mine } = stage();
      await partsOf(mine)[1]!.using(async (outer) => {
        const lease = await multiOf(mine).acquire();
        await lease.release();
        expect(outer.isHeld).toBe(true);
        expect(await isFree(1)).toBe(false);
        expect(await isFree(0)).toBe(true);
      });
      expect(await isFree(1)).toBe(true);
    });

    it('that the caller holds already stay, too, when the others are not granted', async () => {
      const { mine, theirs } = stage();
      await using _ = await partsOf(theirs)[2]!.acquire();
      await partsOf(mine)[1]!.using(async (outer) => {
        expect(await multiOf(mine).tryAcquire()).toBeUndefined();
        await expect(multiOf(mine).acquire({ wait: 30 })).rejects.toMatchObject({ waitedMs: 30 });
        const aborted = multiOf(mine).acquire({ signal: AbortSignal.abort() });
        await expect(aborted).rejects.toBeInstanceOf(LockAbortedError);
        expect(outer.isHeld).toBe(true);
        expect(await isFree(0)).toBe(true);
        expect(await isFree(1)).toBe(false);
      });
      expect(await isFree(1)).toBe(true);
    });

    it('make the whole lost when one of them is; the others stay held until it is released', async () => {
      const { mine, theirs } = stage();
      const lease = await multiOf(mine).acquire();
      const { signal } = lease;
      await theirs.locks.mutex(keys()[1]!).forceUnlock();
      stage().makeSure(mine);
      await eventually('the signal of the holder aborts', () => signal.aborted);
      expect((signal.reason as Error).message).toContain(`its part "${keys()[1]}"`);
      expectLost(lease);
      for (const part of [0, 2]) expect(await isFree(part)).toBe(false);
      await lease.release();
      await using next = await multiOf(theirs).tryAcquire();
      expect(next?.isHeld).toBe(true);
    });

    it('have a fencing token together, which grows with every grant', async () => {
      const { mine, theirs } = stage();
      const tokens: bigint[] = [];
      for (const client of [mine, theirs, mine, theirs]) {
        await multiOf(client).using(async (lease) => void tokens.push(await lease.fencingToken()));
        await partsOf(client)[1]!.using(async (lease) => void (await lease.fencingToken())); // one may be granted more often
      }
      for (const [i, token] of tokens.entries())
        if (i > 0) expect(token).toBeGreaterThan(tokens[i - 1]!);
    });

    it('that are multi-locks stand for their own parts', async () => {
      const { mine } = stage();
      const [a, b, c] = partsOf(mine);
      const inner = mine.locks.multiLock([c!, b!]);
      const outer = mine.locks.multiLock([inner, a!, b!]); // b twice
      await outer.using(async () => {
        await inner.using(async () => {});
        for (const part of [0, 1, 2]) expect(await isFree(part)).toBe(false);
      });
      for (const part of [0, 1, 2]) expect(await isFree(part)).toBe(true);
    });

    it('may belong to different clients', async () => {
      const { mine, theirs } = stage();
      const [a, b] = [partsOf(mine)[0]!, partsOf(theirs)[1]!];
      const lease = await mine.locks.multiLock([b, a]).acquire();
      expect(await partsOf(theirs)[0]!.tryAcquire()).toBeUndefined();
      expect(await partsOf(mine)[1]!.tryAcquire()).toBeUndefined();
      await lease.release();
      expect([await isFree(0), await isFree(1)]).toEqual([true, true]);
    });

    it('may belong to different backends: to these servers and to the embedded tree', async () => {
      const { mine, theirs } = stage();
      const embedded = createEmbeddedLockClient('in this process');
      await embedded.connect();
      try {
        const [a, b] = [embedded.mutex('a'), partsOf(mine)[1]!];
        const multi = mine.locks.multiLock([b, a]);
        await multi.using(async (lease) => {
          expect(await lease.fencingToken()).toBeGreaterThan(0n);
          expect(await a.using(async () => 're-entered')).toBe('re-entered');
          expect(await isFree(1)).toBe(false);
        });
        const taken = await partsOf(theirs)[1]!.acquire();
        expect(await multi.tryAcquire()).toBeUndefined();
        expect(await a.participants()).toEqual([]);
        await taken.release();
        await using lease = await multi.acquire();
        await embedded.close();
        expect(lease.isHeld).toBe(false); // one of its parts is not
      } finally {
        await embedded.close();
      }
    });
  });

  it('may be of every kind', async () => {
    const { mine, theirs, key } = stage();
    const locksOf = ({ locks }: RedisStageClient) => ({
      mutex: locks.mutex(`${key}-mutex`),
      fair: locks.mutex(`${key}-fair`, { fair: true }),
      fenced: locks.mutex(`${key}-fenced`, { fenced: true }),
      spin: locks.spinLock(`${key}-spin`),
      reader: locks.readWriteLock(`${key}-read`).readLock(),
      writer: locks.readWriteLock(`${key}-write`).writeLock(),
      permit: locks.semaphore(`${key}-semaphore`, { permits: 2 }),
      fairPermit: locks.semaphore(`${key}-fair-semaphore`, { permits: 1, fair: true }),
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

  it('do not upgrade: a write lock inside of a held read lock is refused, and the others are released', async () => {
    const { mine } = stage();
    const [a, , c] = keys();
    const rw = mine.locks.readWriteLock(c!);
    const multi = mine.locks.multiLock([mine.locks.mutex(a!), rw.writeLock()]);
    await rw.readLock().using(async () => {
      await expect(multi.tryAcquire()).rejects.toBeInstanceOf(LockUpgradeError);
      await expect(multi.acquire()).rejects.toBeInstanceOf(LockUpgradeError);
    });
    await using lease = await multi.acquire({ wait: 10_000 });
    expect(lease.isHeld).toBe(true);
  });

  it('are refused when two of them would wait for each other', () => {
    const { mine, key } = stage();
    const rw = mine.locks.readWriteLock(key);
    const semaphore = mine.locks.semaphore(`${key}-s`, { permits: 2 });
    for (const locks of [[rw.readLock(), rw.writeLock()], [semaphore, semaphore], []])
      expect(() => mine.locks.multiLock(locks)).toThrow(LockOptionsError);
  });
}
