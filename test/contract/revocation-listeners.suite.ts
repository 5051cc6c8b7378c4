import { expect, it, jest } from '@jest/globals';
import { LockLostError, LockNotHeldError } from '../../lib/core/errors/index.js';
import { eventually } from '../support/eventually.js';
import { revocationsOf } from './revocations-of.js';
import type { Stage } from './stage.js';

/** What is notified of a revocation: the listeners of the leases on that hold, as long as they are held. */
export function revocationListenersSuite(stage: () => Stage): void {
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
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    try {
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
    } finally {
      warn.mockRestore();
    }
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
