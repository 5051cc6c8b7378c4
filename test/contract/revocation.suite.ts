import { describe, expect, it } from '@jest/globals';
import { LockKeyError, LockLostError, LockNotHeldError } from '../../lib/core/errors/index.js';
import type { Lock } from '../../lib/core/lock.js';
import type { ZooKeeperLease } from '../../lib/zookeeper/locks/zookeeper-lease.js';
import { eventually } from '../support/time.js';
import { downgrade, revocationsOf } from './backends/leases.js';
import { useWarnings } from './backends/stage.js';
import type { Client, Stage } from './backends/zookeeper.js';

const REVOKE = Buffer.from([0x5f, 0x5f, 0x52, 0x45, 0x56, 0x4f, 0x4b, 0x45, 0x5f, 0x5f]);

/** Asking a holder for its lock: a request, which the holder may grant. */
export function revocationSuite(stage: () => Stage): void {
  describe.each<[string, LockOf, LockOf]>([
    ['mutex', ({ locks }, key) => locks.mutex(key), ({ locks }, key) => locks.mutex(key)],
    ['read lock', readLockOf, writeLockOf],
    ['write lock', writeLockOf, readLockOf],
    ['semaphore', semaphoreOf, semaphoreOf],
    ['semaphore mutex', semaphoreMutexOf, semaphoreMutexOf],
  ])('of the holder of a %s', (_, lockOf, rivalOf) => {
    it('reaches its listener, and the next one gets in (Curator: testRevoking)', async () => {
      const { mine, theirs, key } = stage();
      const lease = await lockOf(mine, key).acquire();
      lease.makeRevocable((revoked) => {
        expect(revoked).toBe(lease);
        return revoked.release();
      });
      const { lease: waiting } = await stage().queueFor(rivalOf(theirs, key), theirs);
      const [holder] = await lockOf(theirs, key).participants();
      expect(await theirs.locks.revoke(holder!)).toBe(true);
      await using granted = await waiting;
      expect([lease.isHeld, granted.isHeld]).toEqual([false, true]);
    });
  });

  it('of any of several permits reaches their lease', async () => {
    const { mine, theirs, key } = stage();
    const semaphore = mine.locks.semaphore(key, { permits: 3 });
    await using lease = await semaphore.acquire({ permits: 3 });
    const told = revocationsOf(lease);
    for (const [place, node] of lease.paths.entries()) {
      expect(await theirs.locks.revoke(node)).toBe(true);
      await eventually('its listener is called', () => told.length === place + 1);
    }
    expect(told).toEqual([lease, lease, lease]);
  });

  it('of a reader that has downgraded reaches the reader, not the writer', async () => {
    const { mine, theirs, key } = stage();
    const { writer, reader } = await downgrade(mine, key);
    const told: string[] = [];
    writer.makeRevocable(() => told.push('writer'));
    reader.makeRevocable(() => told.push('reader'));
    await theirs.locks.revoke(reader.paths[0]!);
    await eventually('the listener of the reader is called', () => told.length > 0);
    await stage().caughtUp(mine);
    expect(told).toEqual(['reader']);
    await Promise.all([writer.release(), reader.release()]);
  });

  it('is a request: a holder that does nothing keeps the lock', async () => {
    const { mine, theirs, key } = stage();
    await using lease = await mine.mutex(key).acquire();
    const told = revocationsOf(lease);
    await theirs.locks.revoke(lease.paths[0]!);
    await eventually('its listener is called', () => told.length === 1);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    expect(await theirs.mutex(key).tryAcquire()).toBeUndefined();
  });

  describe('on the servers', () => {
    it('is the message of Curator, byte by byte, and stays in the node', async () => {
      const { mine, theirs, stranger, key, path } = stage();
      await using lease = await mine.mutex(key).acquire();
      const told = revocationsOf(lease);
      await theirs.locks.revoke(lease.paths[0]!);
      await eventually('its listener is called', () => told.length === 1);
      await stage().caughtUp(mine);
      await stranger.sync(path);
      const { data, stat } = await stranger.getData(lease.paths[0]!);
      expect(data).toEqual(REVOKE);
      expect(stat.version).toBe(1); // written once: no client has put the old data back
    });

    it('is recognized whichever client writes it, and nothing else is', async () => {
      const { mine, stranger, key } = stage();
      await using lease = await mine.mutex(key).acquire();
      const told = revocationsOf(lease);
      const others = ['', '__REVOKE_', '__REVOKE__ ', '__revoke__', 'x__REVOKE__'];
      for (const text of others) {
        await stranger.setData(lease.paths[0]!, Buffer.from(text));
        await stage().caughtUp(mine);
        expect(told).toEqual([]);
      }
      await stranger.setData(lease.paths[0]!, REVOKE);
      await eventually('its listener is called', () => told.length === 1);
    });
  });

  describe('reaches the listener', () => {
    it('when it came before any listener was added', async () => {
      const { mine, theirs, key } = stage();
      await using lease = await mine.mutex(key).acquire();
      expect(await theirs.locks.revoke(lease.paths[0]!)).toBe(true);
      const told = revocationsOf(lease);
      await eventually('its listener is called', () => told.length === 1);
      const alsoTold = revocationsOf(lease);
      await eventually('the second listener is called', () => alsoTold.length === 1);
      await stage().caughtUp(mine);
      expect(told).toHaveLength(1);
    });

    it('when it came at the same time', async () => {
      const { mine, theirs, key } = stage();
      for (let round = 0; round < 20; round++) {
        const lease = await mine.mutex(key).acquire();
        const revoking = theirs.locks.revoke(lease.paths[0]!);
        const told = revocationsOf(lease);
        expect(await revoking).toBe(true);
        await eventually('its listener is called', () => told.length === 1);
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
      const told = revocationsOf(lease);
      await eventually('its listener is called', () => told.length === 1);
      expect(lease.isHeld).toBe(true);
    });

    it('again when it is asked for again', async () => {
      const { mine, theirs, key } = stage();
      await using lease = await mine.mutex(key).acquire();
      const told = revocationsOf(lease);
      for (const times of [1, 2, 3]) {
        expect(await theirs.locks.revoke(lease.paths[0]!)).toBe(true);
        await eventually('its listener is called', () => told.length === times);
        await stage().caughtUp(mine);
        expect(told).toHaveLength(times);
      }
    });
  });

  describe('has no effect', () => {
    it('where the node is gone, or never was', async () => {
      const { mine, theirs, key, path } = stage();
      const lease = await mine.mutex(key).acquire();
      const [node] = lease.paths;
      await lease.release();
      expect(await theirs.locks.revoke(node!)).toBe(false);
      expect(await theirs.locks.revoke(`${path}/nobody`)).toBe(false);
      expect(await stage().nodes()).toEqual([]);
    });

    it('where it names no node: that is refused before anything is sent', async () => {
      const { mine, path } = stage();
      for (const name of ['', '/', 'relative', `${path}/`, `${path}/../other`, '/a\0b']) {
        await expect(mine.locks.revoke(name)).rejects.toBeInstanceOf(LockKeyError);
      }
      expect(mine.requests).toEqual([]);
    });

    it('for a waiter that gives up', async () => {
      const { mine, theirs, key } = stage();
      await using holder = await mine.mutex(key).acquire();
      const told = revocationsOf(holder);
      const leave = new AbortController();
      const { lease } = await stage().queue(theirs, { signal: leave.signal });
      await stage().caughtUp(mine);
      const [, waiter] = await mine.mutex(key).participants();
      await mine.locks.revoke(waiter!);
      leave.abort();
      await expect(lease).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
      await eventually('it has left', async () => (await stage().nodes()).length === 1);
      expect(told).toEqual([]);
    });
  });
}

type LockOf = (client: Client, key: string) => RevocableLock;

interface RevocableLock extends Lock {
  acquire(): Promise<ZooKeeperLease>;
  participants(): Promise<string[]>;
}

function readLockOf({ locks }: Client, key: string): RevocableLock {
  return locks.readWriteLock(key).readLock();
}

function writeLockOf({ locks }: Client, key: string): RevocableLock {
  return locks.readWriteLock(key).writeLock();
}

function semaphoreOf({ locks }: Client, key: string): RevocableLock {
  return locks.semaphore(key, { permits: 1 });
}

function semaphoreMutexOf({ locks }: Client, key: string): RevocableLock {
  return locks.semaphoreMutex(key);
}

/** The servers go away and come back. */
export function revocationOutagesSuite(stage: () => Stage): void {
  it('reaches the listener when it was asked for while the servers were away', async () => {
    const { mine, theirs, key } = stage();
    await using lease = await mine.mutex(key).acquire();
    const told = revocationsOf(lease);
    await stage().down();
    const revoking = theirs.locks.revoke(lease.paths[0]!);
    await stage().up();
    expect(await revoking).toBe(true);
    await eventually('its listener is called', () => told.length > 0);
    await stage().caughtUp(mine);
    expect(told).toHaveLength(1);
  });

  it('reaches it once, although the connection was lost since', async () => {
    const { mine, theirs, key } = stage();
    await using lease = await mine.mutex(key).acquire();
    const told = revocationsOf(lease);
    await theirs.locks.revoke(lease.paths[0]!);
    await eventually('its listener is called', () => told.length === 1);
    await stage().down();
    await stage().up();
    await stage().caughtUp(mine); // it has read its node again
    expect(told).toHaveLength(1);
    await theirs.locks.revoke(lease.paths[0]!);
    await eventually('its listener is called again', () => told.length === 2);
  });
}

/** What is notified of a revocation: the listeners of the leases on that hold, as long as they are held. */
export function revocationListenersSuite(stage: () => Stage): void {
  const warnings = useWarnings();

  it('are not called for another lease of the same lock', async () => {
    const { mine, theirs, key } = stage();
    const lock = mine.locks.readWriteLock(key).readLock();
    await using first = await lock.acquire();
    await using second = await lock.acquire();
    const [toldFirst, toldSecond] = [revocationsOf(first), revocationsOf(second)];
    await theirs.locks.revoke(second.paths[0]!);
    await eventually('the second listener is called', () => toldSecond.length === 1);
    await stage().caughtUp(mine);
    expect(toldFirst).toEqual([]);
  });

  it('are called for all leases that share a hold, until they are released', async () => {
    const { mine, theirs, key } = stage();
    const outer = await mine.mutex(key).acquire();
    const inner = await outer.run(() => mine.mutex(key).acquire());
    const [toldOuter, toldInner] = [revocationsOf(outer), revocationsOf(inner)];
    await theirs.locks.revoke(outer.paths[0]!);
    await eventually('both listeners are called', () => toldOuter.length + toldInner.length === 2);
    await inner.release();
    await theirs.locks.revoke(outer.paths[0]!);
    await eventually('the outer listener is called', () => toldOuter.length === 2);
    await stage().caughtUp(mine);
    expect(toldInner).toHaveLength(1);
    await outer.release();
  });

  it('are not inherited by the next grant of the same lock, nor is the request', async () => {
    const { mine, theirs, key } = stage();
    const lock = mine.mutex(key);
    const first = await lock.acquire();
    const told = revocationsOf(first);
    await theirs.locks.revoke(first.paths[0]!);
    await eventually('its listener is called', () => told.length === 1);
    await first.release();
    await using second = await lock.acquire();
    const toldSecond = revocationsOf(second);
    await stage().caughtUp(mine);
    expect([told.length, toldSecond.length]).toEqual([1, 0]);
    await theirs.locks.revoke(second.paths[0]!);
    await eventually('the second listener is called', () => toldSecond.length === 1);
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
  ])('are called although another one %s, which is a warning', async (_, failing) => {
    const { mine, theirs, key } = stage();
    const warn = warnings();
    await using lease = await mine.mutex(key).acquire();
    lease.makeRevocable(failing);
    const told = revocationsOf(lease);
    for (const times of [1, 2]) {
      await theirs.locks.revoke(lease.paths[0]!);
      await eventually('the other listener is called', () => told.length === times);
      await eventually('a warning', () => warn.mock.calls.length === times);
    }
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/revocation.*no time/));
    expect(lease.isHeld).toBe(true);
  });

  it('are not called after the release', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key).acquire();
    const told = revocationsOf(lease);
    const [path] = lease.paths;
    await Promise.all([lease.release(), theirs.locks.revoke(path!)]);
    await stage().caughtUp(mine);
    expect(told).toEqual([]);
  });

  it('are refused by a lease that is not held', async () => {
    const { mine, key } = stage();
    const released = await mine.mutex(key).acquire();
    await released.release();
    expect(() => released.makeRevocable(() => {})).toThrow(LockNotHeldError);
    const lost = await mine.mutex(key).acquire();
    await stage().expire(mine);
    expect(() => lost.makeRevocable(() => {})).toThrow(LockLostError);
    await lost.release();
  });

  it('are not called when another client deletes the node: that is a loss, not a request', async () => {
    const { mine, stranger, key } = stage();
    const lease = await mine.mutex(key).acquire();
    const told = revocationsOf(lease);
    const { signal } = lease;
    await stranger.delete(lease.paths[0]!);
    await eventually('it is lost', () => signal.aborted);
    expect(told).toEqual([]);
    await lease.release();
  });
}
