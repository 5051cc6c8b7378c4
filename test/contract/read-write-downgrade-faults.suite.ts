import { describe, expect, it } from '@jest/globals';
import { LockAbortedError, LockTimeoutError } from '../../lib/core/errors/index.js';
import { eventually } from '../support/eventually.js';
import { downgrade } from './downgrade.js';
import type { LockStage } from './lock-stage.js';

/** What may become of a downgrade, before it has come about and after. */
export function readWriteDowngradeFaultsSuite(stage: () => LockStage): void {
  it('is lost when the servers forget it', async () => {
    const { mine, theirs, key } = stage();
    const { writer, reader } = await downgrade(mine, key);
    await writer.release();
    const { signal } = reader;
    await stage().expire(mine);
    expect([reader.isHeld, signal.aborted]).toEqual([false, true]);
    await using next = await theirs.writeLock(key).acquire();
    expect(next.isHeld).toBe(true);
    await reader.release();
    expect(await stage().contenders()).toHaveLength(1);
  });

  it('is lost when another client takes it away', async () => {
    const { mine, theirs, key } = stage();
    const { writer, reader } = await downgrade(mine, key);
    await writer.release();
    const { lease: queued } = await stage().queueFor(theirs.writeLock(key), theirs);
    await stage().evict();
    await using next = await queued;
    stage().makeSure(mine);
    await eventually('the signal of the reader aborts', () => reader.signal.aborted);
    expect([reader.isHeld, next.isHeld]).toEqual([false, true]);
    await reader.release();
  });

  describe('of a writer that has lost the write lock', () => {
    it.each([
      ['and knows', true],
      ['and does not know yet', false],
    ])(
      'is not granted to a writer that was evicted by another client %s; it does not join the next holder',
      async (_, knows) => {
        const { mine, theirs, key } = stage();
        await mine.writeLock(key).using(async (writer) => {
          const { lease: queued } = await stage().queueFor(theirs.writeLock(key), theirs);
          if (knows) await writer.fencingToken(); // on ZooKeeper it watches its node from now on
          await stage().evict();
          await using next = await queued;
          if (knows) {
            stage().makeSure(mine);
            await eventually('it knows', () => !writer.isHeld);
          }

          expect(await mine.readLock(key).tryAcquire()).toBeUndefined();
          const failure = mine.readLock(key).acquire({ wait: 50 });
          await expect(failure).rejects.toBeInstanceOf(LockTimeoutError);
          expect(next.isHeld).toBe(true);
          await eventually(
            'nothing is left',
            async () => (await stage().contenders()).length === 1,
          );
        });
      },
    );

    it('is not granted when the servers have forgotten the writer; the read lock queues anew', async () => {
      const { mine, theirs, key } = stage();
      await mine.writeLock(key).using(async (writer) => {
        const token = await writer.fencingToken();
        await stage().expire(mine);
        const other = await theirs.writeLock(key).acquire();
        expect(await mine.readLock(key).tryAcquire()).toBeUndefined();
        await other.release();
        await using reader = await mine.readLock(key).acquire();
        expect([writer.isHeld, reader.isHeld]).toEqual([false, true]);
        expect(await reader.fencingToken()).toBeGreaterThan(token);
      });
    });
  });

  describe('that does not come about', () => {
    it('ends at its deadline when the servers answer nothing, and leaves nothing', async () => {
      const { mine, key } = stage();
      const writer = await mine.writeLock(key).acquire();
      stage().freeze();
      try {
        await writer.run(async () => {
          const read = mine.readLock(key);
          await expect(read.acquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
          await expect(read.tryAcquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
        });
      } finally {
        stage().thaw();
      }
      await eventually(
        'only the writer is left',
        async () => (await stage().contenders()).length === 1,
      );
      expect(writer.isHeld).toBe(true);
      await writer.release();
    });

    it('is aborted as any other acquire', async () => {
      const { mine, key } = stage();
      await mine.writeLock(key).using(async () => {
        const asked = mine.requests.length;
        const reading = mine.readLock(key).acquire({ signal: AbortSignal.abort() });
        await expect(reading).rejects.toBeInstanceOf(LockAbortedError);
        expect(mine.requests).toHaveLength(asked);
      });
    });
  });
}
