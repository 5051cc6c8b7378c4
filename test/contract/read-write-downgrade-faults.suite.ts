import { describe, expect, it } from '@jest/globals';
import { LockAbortedError, LockTimeoutError } from '../../lib/core/errors/index.js';
import { eventually } from '../support/eventually.js';
import { isSettled } from '../support/is-settled.js';
import { downgrade } from './downgrade.js';
import type { Stage } from './stage.js';

/** What may become of a downgrade, before it has come about and after. */
export function readWriteDowngradeFaultsSuite(stage: () => Stage): void {
  it('is lost with its session', async () => {
    const { mine, theirs, key } = stage();
    const { writer, reader } = await downgrade(mine, key);
    await writer.release();
    const { signal } = reader;
    await stage().expire(mine);
    expect([reader.isHeld, signal.aborted]).toEqual([false, true]);
    await using next = await theirs.writeLock(key).acquire();
    expect(next.isHeld).toBe(true);
    await reader.release();
    expect(await stage().nodes()).toHaveLength(1);
  });

  it('is lost when a stranger deletes its node', async () => {
    const { mine, theirs, stranger, key } = stage();
    const { writer, reader } = await downgrade(mine, key);
    await writer.release();
    const { lease: queued } = await stage().queueFor(theirs.writeLock(key), theirs);
    await stranger.delete(reader.paths[0]!);
    await using next = await queued;
    await eventually('the reader is told', () => reader.signal.aborted);
    expect([reader.isHeld, next.isHeld]).toEqual([false, true]);
    await reader.release();
  });

  it('goes on when a stranger deletes the node of its writer', async () => {
    const { mine, theirs, stranger, key } = stage();
    const { writer, reader } = await downgrade(mine, key);
    const { lease: queued } = await stage().queueFor(theirs.writeLock(key), theirs);
    const { signal } = writer;
    await stranger.delete(writer.paths[0]!);
    await eventually('the writer is told', () => signal.aborted);
    await stage().caughtUp(theirs);
    expect([writer.isHeld, reader.isHeld, await isSettled(queued)]).toEqual([false, true, false]);
    await Promise.all([writer.release(), reader.release()]);
    await (await queued).release();
  });

  describe('of a writer who is not one any more', () => {
    it.each([
      ['and knows', true],
      ['and does not know yet', false],
    ])(
      'is none: its node was deleted by a stranger, %s; who came in is not joined',
      async (_, knows) => {
        const { mine, theirs, stranger, key, path } = stage();
        await mine.writeLock(key).using(async (writer) => {
          const [own] = await stage().nodes();
          const { lease: queued } = await stage().queueFor(theirs.writeLock(key), theirs);
          if (knows) await writer.fencingToken(); // it watches its node from now on
          await stranger.delete(`${path}/${own}`);
          await using next = await queued;
          if (knows) await eventually('it knows', () => !writer.isHeld);

          expect(await mine.readLock(key).tryAcquire()).toBeUndefined();
          const failure = mine.readLock(key).acquire({ wait: 50 });
          await expect(failure).rejects.toBeInstanceOf(LockTimeoutError);
          expect(next.isHeld).toBe(true);
          await eventually('nothing is left', async () => (await stage().nodes()).length === 1);
        });
      },
    );

    it('is none: its session has ended; the read queues anew', async () => {
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

    it('is none, or is one at last: its node is deleted by a stranger at the same time', async () => {
      const { mine, theirs, stranger, key } = stage();
      const lock = mine.locks.readWriteLock(key);
      const writer = await lock.writeLock().acquire();
      await writer.fencingToken(); // it watches its node, so it need not look before it asks
      const { lease: queued } = await stage().queueFor(theirs.writeLock(key), theirs);
      stage().backend.freeze();
      const deleting = stranger.delete(writer.paths[0]!);
      const trying = writer.run(() => lock.readLock().tryAcquire());
      stage().backend.thaw();
      await deleting;
      const reader = await trying;
      await stage().caughtUp(theirs);
      expect(await isSettled(queued)).toBe(reader === undefined);
      await reader?.release();
      await (await queued).release();
      await writer.release();
    });
  });

  describe('that does not come about', () => {
    it('ends at its deadline when the servers answer nothing, and leaves nothing', async () => {
      const { mine, key } = stage();
      const writer = await mine.writeLock(key).acquire();
      stage().backend.freeze();
      try {
        await writer.run(async () => {
          const read = mine.readLock(key);
          await expect(read.acquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
          await expect(read.tryAcquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
        });
      } finally {
        stage().backend.thaw();
      }
      await eventually('only the writer is left', async () => (await stage().nodes()).length === 1);
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
