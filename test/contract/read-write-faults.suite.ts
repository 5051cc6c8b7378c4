import { describe, expect, it } from '@jest/globals';
import { LockClientClosedError, LockLostError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { eventually } from '../support/eventually.js';
import { isSettled } from '../support/is-settled.js';
import type { Stage } from './stage.js';

/** Sessions that end, servers that go, nodes that strangers delete, clients that close. */
export function readWriteFaultsSuite(stage: () => Stage): void {
  describe.each(['read', 'write'] as const)('of the %s lock', (half) => {
    it('session ends while it is held: it is lost, and a writer gets in', async () => {
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

    it('session ends while it waits: it queues again, behind those who came meanwhile', async () => {
      const { mine, theirs, key } = stage();
      const holder = await mine.writeLock(key).acquire();
      const { lease } = await stage().queueFor(theirs.half(half, key), theirs);
      const { lease: behind } = await stage().queueFor(mine.writeLock(key), mine);
      await stage().expire(theirs);
      await eventually('it queues again', async () => (await stage().nodes()).length === 3);
      await holder.release();
      const second = await behind;
      await stage().caughtUp(theirs);
      expect(await isSettled(lease)).toBe(false);
      await second.release();
      await using third = await lease;
      expect(third.isHeld).toBe(true);
    });

    it('node is deleted by a stranger while it is held: it is lost', async () => {
      const { mine, theirs, stranger, key, path } = stage();
      const lease = await mine.half(half, key).acquire();
      const [node] = await stage().nodes();
      const { signal } = lease;
      const { lease: waiting } = await stage().queueFor(theirs.writeLock(key), theirs);
      await stranger.delete(`${path}/${node}`);
      await using next = await waiting;
      await eventually('the holder is told', () => signal.aborted);
      expectLost(lease);
      expect((signal.reason as Error).message).toContain('somebody deleted its node');
      expect(next.isHeld).toBe(true);
      await lease.release();
    });

    it('node is deleted by a stranger while it waits: it queues again', async () => {
      const { mine, theirs, stranger, key, path } = stage();
      const holder = await mine.writeLock(key).acquire();
      const [ahead] = await stage().nodes();
      const { lease } = await stage().queueFor(theirs.half(half, key), theirs);
      await stage().caughtUp(theirs); // it waits, and its watches are set
      const own = (await stage().nodes()).find((node) => node !== ahead)!;
      await stranger.delete(`${path}/${own}`);
      await eventually('it has another node', async () => {
        const nodes = await stage().nodes();
        return nodes.length === 2 && !nodes.includes(own);
      });
      expect(await isSettled(lease)).toBe(false);
      await holder.release();
      await (await lease).release();
    });
  });

  it('servers go and come back: a writer, who reads too, and those who wait are still there', async () => {
    const { mine, theirs, key } = stage();
    const writer = await mine.writeLock(key).acquire();
    const reader = await writer.run(() => mine.readLock(key).acquire());
    const { lease: waitingWriter } = await stage().queueFor(theirs.writeLock(key), theirs);
    const { lease: waitingReader } = await stage().queueFor(theirs.readLock(key), theirs);
    await stage().down();
    await stage().up();
    expect([writer.isHeld, reader.isHeld]).toEqual([true, true]);
    expect(await stage().nodes()).toHaveLength(4);

    await writer.release();
    await stage().caughtUp(theirs);
    expect(await isSettled(waitingWriter)).toBe(false);
    await reader.release();
    await (await waitingWriter).release();
    await (await waitingReader).release();
  });

  it('servers are away when a writer begins to read: it goes on when they are back', async () => {
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
    await eventually('nothing is left', async () => (await stage().nodes()).length === 0);
  });

  describe('the client closes', () => {
    it('with waiters on both halves: they are rejected, and nothing of them is left', async () => {
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
      expect(await stage().nodes()).toHaveLength(1); // that of the holder
    });

    it('with readers, a writer and a downgrade: all are lost, and nothing of them is left', async () => {
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

    it('in two steps: from refuse() on nobody gets in, and what is held may be re-entered', async () => {
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

  function expectLost(lease: Lease): void {
    expect(lease.isHeld).toBe(false);
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
    expect(() => lease.assertHeld()).toThrow(LockLostError);
  }
}
