import { describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockOptionsError,
  LockQueueFullError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { AcquireOptions, Lock } from '../../lib/core/lock.js';
import { earliest } from '../support/time.js';
import {
  contendersBecome,
  type LockStage,
  type StageClient,
  whileFrozen,
} from './backends/stage.js';

/** A lock that clients wait for. */
export interface WaitedFor {
  readonly wanted: (client: StageClient) => Lock;
  /** What keeps it out. Default: the same lock of another client. */
  readonly taken?: (client: StageClient) => Lock;
  /** Resolves when so many hold it, and none wait. Default: as the stage knows of its lock. */
  readonly areLeft?: (holders: number) => Promise<void>;
}

/** Deadlines, signals and single attempts, none of which leaves anything behind. */
export function lockWaitSuite(stage: () => LockStage, waitedFor: WaitedFor): void {
  const { wanted, taken = wanted } = waitedFor;
  const areLeft = waitedFor.areLeft ?? ((holders) => contendersBecome(stage(), holders));

  describe('up to a deadline', () => {
    it('ends with LockTimeoutError, and leaves the queue', async () => {
      const { mine, theirs, recipe } = stage();
      await using _ = await taken(theirs).acquire();
      const start = performance.now();
      const { key } = wanted(mine);
      const failure = wanted(mine).acquire({ wait: 50 });
      await expect(failure).rejects.toBeInstanceOf(LockTimeoutError);
      const expected = { code: 'LOCK_TIMEOUT', key, client: recipe.client, waitedMs: 50 };
      await expect(failure).rejects.toMatchObject(expected);
      expect(performance.now() - start).toBeGreaterThanOrEqual(earliest(50));
      await areLeft(1);
    });

    it('lets those behind move up when it ends', async () => {
      const { mine, theirs } = stage();
      const holder = await taken(mine).acquire();
      const { lease: hasty } = await stage().queueFor(wanted(theirs), theirs, { wait: 500 });
      const { lease: patient } = await stage().queueFor(wanted(mine), mine);
      await expect(hasty).rejects.toBeInstanceOf(LockTimeoutError);
      await holder.release();
      await (await patient).release();
    });

    it('also when the servers answer nothing', async () => {
      const { mine } = stage();
      await whileFrozen(stage(), async () => {
        const lock = wanted(mine);
        await expect(lock.acquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
        await expect(lock.tryAcquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
      });
      await areLeft(0);
      await using lease = await wanted(mine).tryAcquire();
      expect(lease?.isHeld).toBe(true);
    });
  });

  describe('until a signal aborts', () => {
    it('ends with LockAbortedError, and leaves the queue', async () => {
      const { mine, theirs } = stage();
      await using _ = await taken(theirs).acquire();
      const stop = new AbortController();
      const { key } = wanted(mine);
      const { lease } = await stage().queueFor(wanted(mine), mine, { signal: stop.signal });
      const why = new Error('the user went away');
      stop.abort(why);
      await expect(lease).rejects.toBeInstanceOf(LockAbortedError);
      const about = stage().recipe.client ? key : expect.any(String); // a multi-lock names its part
      await expect(lease).rejects.toMatchObject({ code: 'LOCK_ABORTED', key: about, cause: why });
      await areLeft(1);
    });

    it('also when the servers answer nothing', async () => {
      const { mine } = stage();
      await whileFrozen(stage(), async () => {
        const acquire = wanted(mine).acquire({ signal: AbortSignal.timeout(50) });
        await expect(acquire).rejects.toBeInstanceOf(LockAbortedError);
      });
      await areLeft(0);
    });

    it('is over with the grant: an abort after that changes nothing', async () => {
      const stop = new AbortController();
      const options = { signal: stop.signal, wait: 10_000 };
      await using lease = await wanted(stage().mine).acquire(options);
      stop.abort();
      expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    });
  });

  describe('is not what tryAcquire does', () => {
    it('it takes the lock when that is free (Redisson: RedissonSpinLockTest testTryLockAsyncSucceed)', async () => {
      const lease = await wanted(stage().mine).tryAcquire();
      expect(lease?.isHeld).toBe(true);
      await lease!.release();
    });

    it('it comes back with nothing when the lock is taken, and has left nothing (Redisson: RedissonSpinLockTest testTryLockAsyncFailed)', async () => {
      const { mine, theirs } = stage();
      await using _ = await taken(theirs).acquire();
      expect(await wanted(mine).tryAcquire()).toBeUndefined();
      await areLeft(1);
    });
  });
}

/** What the client decides before it asks any server. */
export function lockOptionsSuite(stage: () => LockStage, waitedFor: WaitedFor): void {
  const { wanted, taken = wanted } = waitedFor;
  const areLeft = waitedFor.areLeft ?? ((holders) => contendersBecome(stage(), holders));

  it('give an acquire the deadline of the client where the acquire names none', async () => {
    const { mine } = stage();
    const hasty = await stage().client({ wait: 30 });
    await using _ = await taken(mine).acquire();
    const [timedOut, lock] = [{ waitedMs: 30 }, wanted(hasty)];
    for (const options of [undefined, {}, { wait: undefined }])
      await expect(lock.acquire(options)).rejects.toMatchObject(timedOut);
    await expect(lock.using(async () => {})).rejects.toMatchObject(timedOut);
    await areLeft(1);
  });

  it('refuse an acquire beyond maxWaitersPerKey with LockQueueFullError, and serve those before it', async () => {
    const { theirs } = stage();
    const limited = await stage().client({ maxWaitersPerKey: 1 });
    const lock = wanted(limited);
    const held = await taken(theirs).acquire();
    const { lease: waiting } = await stage().queueFor(lock, limited);
    const refused = lock.acquire({ wait: 60_000 });
    await expect(refused).rejects.toBeInstanceOf(LockQueueFullError);
    await expect(refused).rejects.toMatchObject({ waiting: 1, option: 'maxWaitersPerKey' });
    expect(await lock.tryAcquire()).toBeUndefined(); // it does not wait
    await held.release();
    await (await waiting).release();
    await (await lock.acquire()).release();
  });

  it('keep an acquire from beginning whose signal has aborted before', async () => {
    const { mine } = stage();
    const [lock, signal] = [wanted(mine), AbortSignal.abort()];
    await expect(lock.acquire({ signal })).rejects.toBeInstanceOf(LockAbortedError);
    await expect(lock.tryAcquire({ signal })).rejects.toBeInstanceOf(LockAbortedError);
    expect(mine.requests).toEqual([]);
    await lock.using(async () => {
      await expect(lock.acquire({ signal })).rejects.toBeInstanceOf(LockAbortedError);
    });
  });

  it.each<[options: unknown, option: string]>([
    [{ wait: 0 }, 'wait'],
    [{ wait: -1 }, 'wait'],
    [{ wait: NaN }, 'wait'],
    [{ wait: Infinity }, 'wait'],
    [{ waitt: 5 }, 'waitt'],
    [{ ttl: 5 }, 'ttl'],
    [500, 'options'],
    [null, 'options'],
  ])('refuse an acquire with %p before anything is sent', async (given, option) => {
    const { mine, recipe } = stage();
    const options = given as AcquireOptions;
    const lock = wanted(mine);
    const attempts = [
      lock.acquire(options),
      lock.tryAcquire(options),
      lock.using(async () => {}, options),
    ];
    for (const refused of attempts) {
      await expect(refused).rejects.toBeInstanceOf(LockOptionsError);
      const expected = { option, key: lock.key, client: recipe.client };
      await expect(refused).rejects.toMatchObject(expected);
    }
    expect(mine.requests).toEqual([]);
  });
}
