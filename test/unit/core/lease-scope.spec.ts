import { describe, expect, it, jest } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { currentLease, LeaseScope } from '../../../lib/core/internal/lease-scope.js';
import { LeaseHandle } from '../../../lib/core/internal/lease-handle.js';
import { granted } from './granted.js';

describe('The lease chain', () => {
  it('finds the hold of a lease above, also over other locks in between', async () => {
    const [door, window] = [granted('door'), granted('window')];
    expect(LeaseScope.find(door.identity)).toBeUndefined();
    await door.lease.run(() =>
      window.lease.run(async () => {
        await nextTurn();
        expect(LeaseScope.find(door.identity)).toBe(door.hold);
        expect(LeaseScope.find(window.identity)).toBe(window.hold);
        expect(currentLease()).toBe(window.lease);
      }),
    );
    expect(LeaseScope.find(door.identity)).toBeUndefined();
  });

  it('does not take the lock of another client, or of another id, for the same', async () => {
    const { lease, identity } = granted('door');
    await lease.run(() => {
      expect(LeaseScope.find({ ...identity, scope: {} })).toBeUndefined();
      expect(LeaseScope.find({ ...identity, name: 'window' })).toBeUndefined();
    });
  });

  it('passes over leases that are released or lost', async () => {
    const [released, lost] = [granted('door'), granted('window')];
    await released.lease.run(() =>
      lost.lease.run(async () => {
        await released.lease.release();
        lost.ledger.isExclusiveNow = false;
        expect(LeaseScope.find(released.identity)).toBeUndefined();
        expect(LeaseScope.find(lost.identity)).toBeUndefined();
        expect(currentLease()).toBe(lost.lease);
      }),
    );
  });

  it('finds the outer of two holds of one lock where the inner one is over', async () => {
    const outer = granted('door');
    const inner = new LeaseHandle(outer.hold);
    await outer.lease.run(() =>
      inner.run(async () => {
        await inner.release();
        expect(LeaseScope.find(outer.identity)).toBe(outer.hold);
      }),
    );
  });

  it('is not seen by siblings', async () => {
    const [left, right] = [granted('left'), granted('right')];
    const seen = await Promise.all([
      left.lease.run(() => nextTurn().then(() => LeaseScope.find(right.identity))),
      right.lease.run(() => nextTurn().then(() => LeaseScope.find(left.identity))),
    ]);
    expect(seen).toEqual([undefined, undefined]);
  });

  it('is left by work that is begun on behalf of no caller', async () => {
    const { lease, hold, identity } = granted();
    await lease.run(async () => {
      const seen = LeaseScope.runOutside(async () => {
        await nextTurn();
        return [currentLease(), LeaseScope.find(identity)];
      });
      expect(await seen).toEqual([undefined, undefined]);
      expect(LeaseScope.find(identity)).toBe(hold);
    });
  });

  it('is one for all copies of the package in the process', async () => {
    const { lease, hold, identity } = granted();
    jest.resetModules();
    const copy = await import('../../../lib/core/internal/lease-scope.js');
    expect(copy.LeaseScope).not.toBe(LeaseScope);
    await lease.run(() => expect(copy.LeaseScope.find(identity)).toBe(hold));
  });
});
