import { describe, expect, it } from '@jest/globals';
import { LockClientClosedError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { eventually } from '../support/eventually.js';
import { isSettled } from '../support/is-settled.js';
import { expectLost } from './expect-lost.js';
import type { LockStage } from './lock-stage.js';

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
      await areBack(length);
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
    await areBack(length);

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
    await eventually('nothing is left', async () => (await stage().contenders()).length === 0);
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

  function areBack(count: number): Promise<unknown> {
    return eventually(
      `${count} hold it or wait again`,
      async () => (await stage().contenders()).length === count,
    );
  }
}
