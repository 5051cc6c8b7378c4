import { describe, expect, it } from '@jest/globals';
import { currentLease } from '../../../lib/core/internal/lease-scope.js';
import { LockLostError, LockNotHeldError } from '../../../lib/core/errors/index.js';
import { LeaseHandle, runWithLease } from '../../../lib/core/internal/lease-handle.js';
import { Deferred } from '../../support/deferred.js';
import { granted } from './granted.js';

describe('A lease', () => {
  it('aborts its signal with the loss, whether it was asked for before or after', () => {
    const { hold, lease } = granted();
    const { signal } = lease;
    expect(signal).toBe(lease.signal);
    hold.markLost('its session ended');
    expect(signal.aborted).toBe(true);
    expect(signal.reason).toBe(hold.lost);
    const late = new LeaseHandle(hold);
    expect(late.signal.reason).toBe(hold.lost);
  });

  it('keeps its signal silent on release, and when the hold of others is lost later', async () => {
    const { hold, lease } = granted();
    const other = new LeaseHandle(hold);
    const [early, late] = [lease.signal, () => lease.signal];
    await lease.release();
    hold.markLost('its session ended');
    expect([early.aborted, other.signal.aborted]).toEqual([false, true]);
    expect(late()).toBe(early);
  });

  it('is not held from the call of release on, before it has got through', async () => {
    const { hold, lease } = granted();
    const releasing = lease.release();
    expect(lease.isHeld).toBe(false);
    expect(() => lease.assertHeld()).toThrow(LockNotHeldError);
    expect(hold.isLive).toBe(false);
    await releasing;
  });

  it('says that it was lost rather than that it was released', async () => {
    const { hold, lease } = granted();
    hold.markLost('its session ended');
    expect(() => lease.assertHeld()).toThrow(LockLostError);
    await lease.release();
    expect(() => lease.assertHeld()).toThrow(LockLostError);
  });

  it('gives no fencing token that came after the loss or the release', async () => {
    const [lost, released] = [granted(), granted()];
    const answer = new Deferred<bigint>();
    for (const { ledger } of [lost, released]) ledger.token = () => answer.promise;
    const tokens = [lost.lease.fencingToken(), released.lease.fencingToken()];
    lost.hold.markLost('its session ended');
    void released.lease.release();
    answer.resolve(7n);
    await expect(tokens[0]).rejects.toBeInstanceOf(LockLostError);
    await expect(tokens[1]).rejects.toBeInstanceOf(LockNotHeldError);
    expect(lost.ledger.asked).toBe(1);
  });

  it('runs nothing once it is over', async () => {
    const { lease } = granted();
    await lease.release();
    let ran = false;
    await expect(lease.run(() => (ran = true))).rejects.toBeInstanceOf(LockNotHeldError);
    expect(ran).toBe(false);
  });

  it('is the current one inside of run, and no longer after it', async () => {
    const { lease } = granted();
    expect(await lease.run(() => currentLease())).toBe(lease);
    expect(currentLease()).toBeUndefined();
  });

  it('turns what the work throws into a rejection, and is released by useLease in any case', async () => {
    const error = new Error('no paper');
    const { lease, ledger } = granted();
    const work = () => {
      throw error;
    };
    await expect(runWithLease(lease, work)).rejects.toBe(error);
    expect(ledger.freed).toBe(1);
  });

  it('keeps useLease waiting until the lock is free', async () => {
    const { lease, ledger } = granted();
    const freed = new Deferred();
    ledger.free = () => freed.promise;
    let isOver = false;
    const use = runWithLease(lease, () => 'done').then((result) => ((isOver = true), result));
    await Promise.resolve();
    expect(isOver).toBe(false);
    freed.resolve();
    expect(await use).toBe('done');
  });
});
