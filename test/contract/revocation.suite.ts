import { describe, expect, it, jest } from '@jest/globals';
import { LockLostError, LockNotHeldError } from '../../lib/core/errors/index.js';
import type { ZooKeeperLease } from '../../lib/zookeeper/recipes/zookeeper-lease.js';
import { eventually } from '../support/eventually.js';
import type { Client } from './client.js';
import type { Stage } from './stage.js';

const REVOKE = Buffer.from([0x5f, 0x5f, 0x52, 0x45, 0x56, 0x4f, 0x4b, 0x45, 0x5f, 0x5f]);

/** Asking a holder for its lock: a request, which the holder may grant. */
export function revocationSuite(stage: () => Stage): void {
  describe.each(['mutex', 'read', 'write'] as const)('of a holder by %s', (kind) => {
    it('reaches its listener, and the next one gets in (Curator: testRevoking)', async () => {
      const { mine, theirs, key } = stage();
      const lease = await lockOf(mine, kind).acquire();
      lease.makeRevocable((revoked) => {
        expect(revoked).toBe(lease);
        return revoked.release();
      });
      const next = kind === 'mutex' ? theirs.mutex(key) : theirs.writeLock(key);
      const { lease: waiting } = await stage().queueFor(next, theirs);
      const [holder] = await lockOf(theirs, kind).participants();
      expect(await theirs.locks.revoke(holder!)).toBe(true);
      await using granted = await waiting;
      expect([lease.isHeld, granted.isHeld]).toEqual([false, true]);
    });
  });

  it('of a reader who has downgraded reaches the reader, not the writer', async () => {
    const { mine, theirs, key } = stage();
    const lock = mine.locks.readWriteLock(key);
    const writer = await lock.writeLock().acquire();
    const reader = await writer.run(() => lock.readLock().acquire());
    const told: string[] = [];
    writer.makeRevocable(() => told.push('writer'));
    reader.makeRevocable(() => told.push('reader'));
    await theirs.locks.revoke(reader.paths[0]!);
    await eventually('the reader is told', () => told.length > 0);
    await stage().caughtUp(mine);
    expect(told).toEqual(['reader']);
    await Promise.all([writer.release(), reader.release()]);
  });

  it('is a request: whoever does nothing keeps the lock', async () => {
    const { mine, theirs, key } = stage();
    await using lease = await mine.mutex(key).acquire();
    const told = listen(lease);
    await theirs.locks.revoke(lease.paths[0]!);
    await eventually('it is told', () => told.length === 1);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    expect(await theirs.mutex(key).tryAcquire()).toBeUndefined();
  });

  describe('on the servers', () => {
    it('is the message of Curator, byte by byte, and stays in the node', async () => {
      const { mine, theirs, stranger, key } = stage();
      await using lease = await mine.mutex(key).acquire();
      const told = listen(lease);
      await theirs.locks.revoke(lease.paths[0]!);
      await eventually('it is told', () => told.length === 1);
      await stage().caughtUp(mine);
      const { data, stat } = await stranger.getData(lease.paths[0]!);
      expect(data).toEqual(REVOKE);
      expect(stat.version).toBe(1); // written once: nobody has put the old data back
    });

    it('is told whoever writes it, and nothing else is', async () => {
      const { mine, stranger, key } = stage();
      await using lease = await mine.mutex(key).acquire();
      const told = listen(lease);
      const others = ['', '__REVOKE_', '__REVOKE__ ', '__revoke__', 'x__REVOKE__'];
      for (const text of others) {
        await stranger.setData(lease.paths[0]!, Buffer.from(text));
        await stage().caughtUp(mine);
        expect(told).toEqual([]);
      }
      await stranger.setData(lease.paths[0]!, REVOKE);
      await eventually('it is told', () => told.length === 1);
    });
  });

  describe('is told', () => {
    it('when it came before anybody listened', async () => {
      const { mine, theirs, key } = stage();
      await using lease = await mine.mutex(key).acquire();
      expect(await theirs.locks.revoke(lease.paths[0]!)).toBe(true);
      const told = listen(lease);
      await eventually('it is told', () => told.length === 1);
      const alsoTold = listen(lease);
      await eventually('the second listener is told', () => alsoTold.length === 1);
      await stage().caughtUp(mine);
      expect(told).toHaveLength(1);
    });

    it('when it came at the same time', async () => {
      const { mine, theirs, key } = stage();
      for (let round = 0; round < 20; round++) {
        const lease = await mine.mutex(key).acquire();
        const revoking = theirs.locks.revoke(lease.paths[0]!);
        const told = listen(lease);
        expect(await revoking).toBe(true);
        await eventually('it is told', () => told.length === 1);
        await lease.release();
      }
    });

    it('when it came while the lock was waited for', async () => {
      const { mine, theirs, key } = stage();
      const holder = await mine.mutex(key).acquire();
      const waiting = theirs.mutex(key).acquire();
      const [, waiter] = await eventually('it queues', async () => {
        const queue = await mine.mutex(key).participants();
        return queue.length === 2 && queue;
      });
      await stage().caughtUp(theirs);
      expect(await mine.locks.revoke(waiter!)).toBe(true);
      await stage().caughtUp(theirs);
      await holder.release();
      await using lease = await waiting;
      const told = listen(lease);
      await eventually('it is told', () => told.length === 1);
      expect(lease.isHeld).toBe(true);
    });

    it('again when it is asked for again', async () => {
      const { mine, theirs, key } = stage();
      await using lease = await mine.mutex(key).acquire();
      const told = listen(lease);
      for (const times of [1, 2, 3]) {
        expect(await theirs.locks.revoke(lease.paths[0]!)).toBe(true);
        await eventually('it is told', () => told.length === times);
        await stage().caughtUp(mine);
        expect(told).toHaveLength(times);
      }
    });

    it('once, although the connection was lost since', async () => {
      const { mine, theirs, key } = stage();
      await using lease = await mine.mutex(key).acquire();
      const told = listen(lease);
      await theirs.locks.revoke(lease.paths[0]!);
      await eventually('it is told', () => told.length === 1);
      await stage().down();
      await stage().up();
      await stage().caughtUp(mine); // it has read its node again
      expect(told).toHaveLength(1);
      await theirs.locks.revoke(lease.paths[0]!);
      await eventually('it is told of another', () => told.length === 2);
    });
  });

  describe('has listeners of each lease:', () => {
    it('those of another lock hear nothing', async () => {
      const { mine, theirs, key } = stage();
      await using first = await mine.readLock(key).acquire();
      await using second = await lockOf(mine, 'read').acquire();
      const [toldFirst, toldSecond] = [listen(first as ZooKeeperLease), listen(second)];
      await theirs.locks.revoke(second.paths[0]!);
      await eventually('the second is told', () => toldSecond.length === 1);
      await stage().caughtUp(mine);
      expect(toldFirst).toEqual([]);
    });

    it('all leases that share a hold hear, until they are released', async () => {
      const { mine, theirs, key } = stage();
      const outer = await mine.mutex(key).acquire();
      const inner = await outer.run(() => mine.mutex(key).acquire());
      const [toldOuter, toldInner] = [listen(outer), listen(inner)];
      await theirs.locks.revoke(outer.paths[0]!);
      await eventually('both are told', () => toldOuter.length + toldInner.length === 2);
      await inner.release();
      await theirs.locks.revoke(outer.paths[0]!);
      await eventually('the outer is told', () => toldOuter.length === 2);
      await stage().caughtUp(mine);
      expect(toldInner).toHaveLength(1);
      await outer.release();
    });

    it('the next grant of the same lock does not inherit them, nor the request', async () => {
      const { mine, theirs, key } = stage();
      const lock = mine.mutex(key);
      const first = await lock.acquire();
      const told = listen(first);
      await theirs.locks.revoke(first.paths[0]!);
      await eventually('it is told', () => told.length === 1);
      await first.release();
      await using second = await lock.acquire();
      const toldSecond = listen(second);
      await stage().caughtUp(mine);
      expect([told.length, toldSecond.length]).toEqual([1, 0]);
      await theirs.locks.revoke(second.paths[0]!);
      await eventually('the second is told', () => toldSecond.length === 1);
      expect(told).toHaveLength(1);
    });

    it.each([
      [
        'throws',
        () => {
          throw new Error('no time');
        },
      ],
      ['rejects', async () => Promise.reject(new Error('no time'))],
    ])('one that %s is a warning, and the others hear all the same', async (_, failing) => {
      const { mine, theirs, key } = stage();
      const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
      try {
        await using lease = await mine.mutex(key).acquire();
        lease.makeRevocable(failing);
        const told = listen(lease);
        for (const times of [1, 2]) {
          await theirs.locks.revoke(lease.paths[0]!);
          await eventually('the other is told', () => told.length === times);
          await eventually('a warning', () => warn.mock.calls.length === times);
        }
        expect(warn).toHaveBeenCalledWith(expect.stringMatching(/revocation.*no time/));
        expect(lease.isHeld).toBe(true);
      } finally {
        warn.mockRestore();
      }
    });

    it('none hears after the release', async () => {
      const { mine, theirs, key } = stage();
      const lease = await mine.mutex(key).acquire();
      const told = listen(lease);
      const [path] = lease.paths;
      await Promise.all([lease.release(), theirs.locks.revoke(path!)]);
      await stage().caughtUp(mine);
      expect(told).toEqual([]);
    });

    it('none is taken by a lease that is not held', async () => {
      const { mine, key } = stage();
      const released = await mine.mutex(key).acquire();
      await released.release();
      expect(() => released.makeRevocable(() => {})).toThrow(LockNotHeldError);
      const lost = await mine.mutex(key).acquire();
      await stage().expire(mine);
      expect(() => lost.makeRevocable(() => {})).toThrow(LockLostError);
      await lost.release();
    });

    it('and a node that a stranger deletes is a loss, not a request', async () => {
      const { mine, stranger, key } = stage();
      const lease = await mine.mutex(key).acquire();
      const told = listen(lease);
      const { signal } = lease;
      await stranger.delete(lease.paths[0]!);
      await eventually('it is lost', () => signal.aborted);
      expect(told).toEqual([]);
      await lease.release();
    });
  });

  describe('comes to nothing', () => {
    it('where the node is gone, or never was', async () => {
      const { mine, theirs, key, path } = stage();
      const lease = await mine.mutex(key).acquire();
      const [node] = lease.paths;
      await lease.release();
      expect(await theirs.locks.revoke(node!)).toBe(false);
      expect(await theirs.locks.revoke(`${path}/nobody`)).toBe(false);
      expect(await stage().nodes()).toEqual([]);
    });

    it('for a waiter that gives up', async () => {
      const { mine, theirs, key } = stage();
      await using holder = await mine.mutex(key).acquire();
      const told = listen(holder);
      const leave = new AbortController();
      const { lease } = await stage().queue(theirs, { signal: leave.signal });
      const [, waiter] = await mine.mutex(key).participants();
      await mine.locks.revoke(waiter!);
      leave.abort();
      await expect(lease).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
      await eventually('it has left', async () => (await stage().nodes()).length === 1);
      expect(told).toEqual([]);
    });
  });

  /** Counts what the lease is told. */
  function listen(lease: ZooKeeperLease): ZooKeeperLease[] {
    const told: ZooKeeperLease[] = [];
    lease.makeRevocable((revoked) => told.push(revoked));
    return told;
  }

  function lockOf(client: Client, kind: 'mutex' | 'read' | 'write') {
    const { key } = stage();
    if (kind === 'mutex') return client.locks.mutex(key);
    const lock = client.locks.readWriteLock(key);
    return kind === 'read' ? lock.readLock() : lock.writeLock();
  }
}
