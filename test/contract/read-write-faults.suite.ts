import { describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { eventually, isSettled } from '../support/time.js';
import { downgrade, expectLost } from './backends/leases.js';
import { contendersBecome, type LockStage, whileFrozen } from './backends/stage.js';

/**
 * Servers that forget or go away, clients that interfere, clients that close.
 *
 * @param isFair is the first in the queue served first?
 */
export function readWriteFaultsSuite(stage: () => LockStage, isFair = true): void {
  describe.each(['read', 'write'] as const)('the %s lock', (half) => {
    it('is lost when the servers forget it while it is held, and lets a writer in', async () => {
      const { mine, theirs, key } = stage();
      const lease = await mine.half(half, key).acquire();
      const token = await lease.fencingToken();
      const { lease: waiting } = await stage().queueFor(theirs.writeLock(key), theirs);
      await stage().expire(mine);
      await using next = await waiting;
      expectLost(lease);
      expect(await next.fencingToken()).toBeGreaterThan(token);
      await lease.release();
      expect(next.isHeld).toBe(true);
    });

    it('queues again, behind those that came meanwhile, when the servers forget it while it waits', async () => {
      const { mine, theirs, key } = stage();
      const holder = await mine.writeLock(key).acquire();
      const { lease } = await stage().queueFor(theirs.half(half, key), theirs);
      const { lease: behind } = await stage().queueFor(mine.writeLock(key), mine);
      const { length } = await stage().contenders();
      await stage().expire(theirs);
      await contendersBecome(stage(), length);
      await holder.release();
      const served: string[] = [];
      const serve = async (name: string, waiting: Promise<Lease>) => {
        const held = await waiting;
        served.push(name);
        await stage().caughtUp(theirs);
        expect([held.isHeld, served.at(-1)]).toEqual([true, name]); // no other client has come in
        await held.release();
      };
      await Promise.all([serve('forgotten', lease), serve('behind', behind)]);
      expect(isFair ? served : served.sort()).toEqual(['behind', 'forgotten']);
    });

    it('is lost when another client takes it away', async () => {
      const { mine, theirs, key } = stage();
      const lease = await mine.half(half, key).acquire();
      const { signal } = lease;
      const { lease: waiting } = await stage().queueFor(theirs.writeLock(key), theirs);
      await stage().evict();
      await using next = await waiting;
      stage().makeSure(mine);
      await eventually('the signal of the holder aborts', () => signal.aborted);
      expectLost(lease);
      expect((signal.reason as Error).message).toMatch(/its node was deleted|removed by force/);
      expect(next.isHeld).toBe(true);
      await lease.release();
    });
  });

  it('leave a writer that reads too, and those that wait, in place when the servers go and come back', async () => {
    const { mine, theirs, key } = stage();
    const writer = await mine.writeLock(key).acquire();
    const reader = await writer.run(() => mine.readLock(key).acquire());
    const { lease: waitingWriter } = await stage().queueFor(theirs.writeLock(key), theirs);
    const { lease: waitingReader } = await stage().queueFor(theirs.readLock(key), theirs);
    const { length } = await stage().contenders();
    await stage().down();
    await stage().up();
    expect([writer.isHeld, reader.isHeld]).toEqual([true, true]);
    await contendersBecome(stage(), length);

    await writer.release();
    await stage().caughtUp(theirs);
    expect(await isSettled(waitingWriter)).toBe(false);
    await reader.release();
    await Promise.all([waitingWriter, waitingReader].map(async (it) => (await it).release()));
  });

  it('delay a downgrade that begins while the servers are away until they are back', async () => {
    const { mine, theirs, key } = stage();
    const writer = await mine.writeLock(key).acquire();
    await stage().down();
    const reading = writer.run(() => mine.readLock(key).acquire());
    await stage().up();
    const reader = await reading;
    await writer.release();
    expect(reader.isHeld).toBe(true);
    expect(await theirs.writeLock(key).tryAcquire()).toBeUndefined();
    await reader.release();
    await contendersBecome(stage(), 0);
  });

  describe('when the client closes', () => {
    it('reject the waiters on both halves, and leave nothing of them', async () => {
      const { mine, theirs, key } = stage();
      await using _ = await theirs.writeLock(key).acquire();
      const waiters: Promise<Lease>[] = [];
      for (const half of ['read', 'write', 'read', 'read', 'write', 'write'] as const) {
        waiters.push((await stage().queueFor(mine.half(half, key), mine)).lease);
      }
      await mine.locks.close();
      for (const waiter of waiters) {
        await expect(waiter).rejects.toBeInstanceOf(LockClientClosedError);
      }
      expect(await stage().contenders()).toHaveLength(1); // that of the holder
    });

    it('end the leases of readers, a writer and a downgrade, and leave nothing of them', async () => {
      const { mine, theirs, key } = stage();
      const readers = [
        await mine.readLock('another').acquire(),
        await mine.readLock('another').acquire(),
      ];
      const writer = await mine.writeLock(key).acquire();
      const reader = await writer.run(() => mine.readLock(key).acquire());
      await mine.locks.close();
      for (const lease of [...readers, writer, reader]) expectLost(lease);
      await using next = await theirs.writeLock(key).tryAcquire();
      await using other = await theirs.writeLock('another').tryAcquire();
      expect([next?.isHeld, other?.isHeld]).toEqual([true, true]);
    });

    it('let no client in from refuse() on, but let what is held be re-entered', async () => {
      const { mine, key } = stage();
      const lease = await mine.readLock(key).acquire();
      mine.locks.refuse();
      const refused = mine.readLock(key).acquire();
      await expect(refused).rejects.toBeInstanceOf(LockClientClosedError);
      const again = await lease.run(() => mine.readLock(key).acquire());
      expect(again.isHeld).toBe(true);
      await Promise.all([again.release(), lease.release()]);
    });
  });
}

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
          await contendersBecome(stage(), 1);
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
      await whileFrozen(stage(), async () => {
        await writer.run(async () => {
          const read = mine.readLock(key);
          await expect(read.acquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
          await expect(read.tryAcquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
        });
      });
      await contendersBecome(stage(), 1);
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
