import { describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockOptionsError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import { earliest } from '../support/earliest.js';
import { eventually } from '../support/eventually.js';
import type { LockStage } from './lock-stage.js';

/** Deadlines, signals and single attempts, none of which leaves anything behind. */
export function mutexWaitSuite(stage: () => LockStage): void {
  const onlyTheHolderIsLeft = () =>
    eventually('only the holder is left', async () => (await stage().contenders()).length === 1);

  describe('up to a deadline', () => {
    it('ends with LockTimeoutError, and leaves the queue', async () => {
      const { mine, theirs, key } = stage();
      await using _ = await theirs.lock(key).acquire();
      const start = performance.now();
      const mutex = mine.lock(key);
      const failure = mutex.acquire({ wait: 50 });
      await expect(failure).rejects.toBeInstanceOf(LockTimeoutError);
      await expect(failure).rejects.toMatchObject({
        code: 'LOCK_TIMEOUT',
        key: mutex.key,
        client: stage().recipe.client,
        waitedMs: 50,
      });
      expect(performance.now() - start).toBeGreaterThanOrEqual(earliest(50));
      await onlyTheHolderIsLeft();
    });

    it('lets those behind move up when it ends', async () => {
      const { mine, theirs, key } = stage();
      const holder = await mine.lock(key).acquire();
      const { lease: hasty } = await stage().queue(theirs, { wait: 500 });
      const { lease: patient } = await stage().queue(mine);
      await expect(hasty).rejects.toBeInstanceOf(LockTimeoutError);
      await holder.release();
      await (await patient).release();
    });

    it('takes the deadline of the client where the acquire names none', async () => {
      const { mine, key } = stage();
      const hasty = await stage().client({ wait: 30 });
      await using _ = await mine.lock(key).acquire();
      for (const options of [undefined, {}, { wait: undefined }]) {
        await expect(hasty.lock(key).acquire(options)).rejects.toMatchObject({ waitedMs: 30 });
      }
      await onlyTheHolderIsLeft();
    });

    it('also when the servers answer nothing', async () => {
      const { mine, key } = stage();
      stage().freeze();
      try {
        const mutex = mine.lock(key);
        await expect(mutex.acquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
        await expect(mutex.tryAcquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
      } finally {
        stage().thaw();
      }
      await eventually('nothing is left', async () => (await stage().contenders()).length === 0);
    });
  });

  describe('until a signal aborts', () => {
    it('ends with LockAbortedError, and leaves the queue', async () => {
      const { mine, theirs, key } = stage();
      await using _ = await theirs.lock(key).acquire();
      const stop = new AbortController();
      const { lease } = await stage().queue(mine, { signal: stop.signal });
      const why = new Error('the user went away');
      stop.abort(why);
      await expect(lease).rejects.toBeInstanceOf(LockAbortedError);
      await expect(lease).rejects.toMatchObject({ code: 'LOCK_ABORTED', cause: why });
      await onlyTheHolderIsLeft();
    });

    it('also when the servers answer nothing', async () => {
      const { mine, key } = stage();
      stage().freeze();
      try {
        const acquire = mine.lock(key).acquire({ signal: AbortSignal.timeout(50) });
        await expect(acquire).rejects.toBeInstanceOf(LockAbortedError);
      } finally {
        stage().thaw();
      }
      await eventually('nothing is left', async () => (await stage().contenders()).length === 0);
    });

    it('does not begin when it has aborted before', async () => {
      const { mine, key } = stage();
      const acquire = mine.lock(key).acquire({ signal: AbortSignal.abort() });
      await expect(acquire).rejects.toBeInstanceOf(LockAbortedError);
      expect(mine.requests).toEqual([]);
      await mine.lock(key).using(async () => {
        const nested = mine.lock(key).acquire({ signal: AbortSignal.abort() });
        await expect(nested).rejects.toBeInstanceOf(LockAbortedError);
      });
    });

    it('is over with the grant: an abort after that changes nothing', async () => {
      const { mine, key } = stage();
      const stop = new AbortController();
      await using lease = await mine.lock(key).acquire({ signal: stop.signal, wait: 10_000 });
      stop.abort();
      expect(lease.isHeld).toBe(true);
      expect(lease.signal.aborted).toBe(false);
    });
  });

  describe('is not what tryAcquire does', () => {
    it('it takes the lock when that is free', async () => {
      const { mine, key } = stage();
      const lease = await mine.lock(key).tryAcquire();
      expect(lease?.isHeld).toBe(true);
      await lease!.release();
    });

    it('it comes back with nothing when the lock is taken, and has left nothing', async () => {
      const { mine, theirs, key } = stage();
      await using _ = await theirs.lock(key).acquire();
      expect(await mine.lock(key).tryAcquire()).toBeUndefined();
      expect(await stage().contenders()).toHaveLength(1);
    });
  });

  it.each([{ wait: 0 }, { wait: -1 }, { wait: NaN }, { wait: Infinity }])(
    'never begins with %p: that is refused before anything is sent',
    async (options) => {
      const { mine, key } = stage();
      const mutex = mine.lock(key);
      for (const refused of [
        mutex.acquire(options),
        mutex.tryAcquire(options),
        mutex.using(async () => {}, options),
      ]) {
        await expect(refused).rejects.toBeInstanceOf(LockOptionsError);
        const { client } = stage().recipe;
        await expect(refused).rejects.toMatchObject({ option: 'wait', key: mutex.key, client });
      }
      expect(mine.requests).toEqual([]);
    },
  );
}
