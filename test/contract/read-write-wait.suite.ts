import { describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockOptionsError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { Lock } from '../../lib/core/lock.js';
import { earliest } from '../support/earliest.js';
import { eventually } from '../support/eventually.js';
import type { LockStage } from './lock-stage.js';
import type { StageClient } from './stage-client.js';

/** Deadlines, signals and single attempts of both halves, none of which leaves anything behind. */
export function readWriteWaitSuite(stage: () => LockStage): void {
  const onlyTheHolderIsLeft = () =>
    eventually('only the holder is left', async () => (await stage().contenders()).length === 1);

  describe.each(['read', 'write'] as const)('for the %s lock', (half) => {
    /** What is waited for behind a writer. */
    const wanted = (client: StageClient): Lock => client.half(half, stage().key);

    it('ends at the deadline, and leaves the queue', async () => {
      const { mine, theirs, key } = stage();
      await using _ = await theirs.writeLock(key).acquire();
      const start = performance.now();
      const failure = wanted(mine).acquire({ wait: 50 });
      await expect(failure).rejects.toBeInstanceOf(LockTimeoutError);
      await expect(failure).rejects.toMatchObject({ key, client: 'contract', waitedMs: 50 });
      expect(performance.now() - start).toBeGreaterThanOrEqual(earliest(50));
      await onlyTheHolderIsLeft();
    });

    it('ends at the deadline of the client where the acquire names none', async () => {
      const { mine, key } = stage();
      const hasty = await stage().client({ wait: 30 });
      await using _ = await mine.writeLock(key).acquire();
      await expect(wanted(hasty).acquire()).rejects.toMatchObject({ waitedMs: 30 });
      await expect(wanted(hasty).using(async () => {})).rejects.toMatchObject({ waitedMs: 30 });
      await onlyTheHolderIsLeft();
    });

    it('ends when its signal aborts, and leaves the queue', async () => {
      const { mine, theirs, key } = stage();
      await using _ = await theirs.writeLock(key).acquire();
      const stop = new AbortController();
      const { lease } = await stage().queueFor(wanted(mine), mine, { signal: stop.signal });
      const why = new Error('the user went away');
      stop.abort(why);
      await expect(lease).rejects.toBeInstanceOf(LockAbortedError);
      await expect(lease).rejects.toMatchObject({ key, cause: why });
      await onlyTheHolderIsLeft();
    });

    it('ends also when the servers answer nothing', async () => {
      const { mine } = stage();
      stage().freeze();
      try {
        const signal = AbortSignal.timeout(50);
        await expect(wanted(mine).acquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
        await expect(wanted(mine).tryAcquire({ wait: 50 })).rejects.toBeInstanceOf(
          LockTimeoutError,
        );
        await expect(wanted(mine).acquire({ signal })).rejects.toBeInstanceOf(LockAbortedError);
      } finally {
        stage().thaw();
      }
      await eventually('nothing is left', async () => (await stage().contenders()).length === 0);
    });

    it('is not what tryAcquire does: it has left nothing', async () => {
      const { mine, theirs, key } = stage();
      await using _ = await theirs.writeLock(key).acquire();
      expect(await wanted(mine).tryAcquire()).toBeUndefined();
      expect(await stage().contenders()).toHaveLength(1);
    });

    it('never begins with a bad option: that is refused before anything is sent', async () => {
      const { mine } = stage();
      for (const wait of [0, -1, NaN, Infinity]) {
        for (const refused of [
          wanted(mine).acquire({ wait }),
          wanted(mine).tryAcquire({ wait }),
          wanted(mine).using(async () => {}, { wait }),
        ]) {
          await expect(refused).rejects.toBeInstanceOf(LockOptionsError);
        }
      }
      expect(mine.requests).toEqual([]);
    });
  });

  it('of a writer behind readers ends as that of a reader behind a writer', async () => {
    const { mine, theirs, key } = stage();
    await using reader = await mine.readLock(key).acquire();
    const failure = theirs.writeLock(key).acquire({ wait: 30 });
    await expect(failure).rejects.toBeInstanceOf(LockTimeoutError);
    await onlyTheHolderIsLeft();
    await using other = await theirs.readLock(key).tryAcquire(); // no client is ahead any more
    expect([reader.isHeld, other?.isHeld]).toEqual([true, true]);
  });
}
