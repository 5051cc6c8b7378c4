import { describe, expect, it, jest } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { currentLease, LeaseChain } from '../../../lib/core/internal/lease-scope.js';
import { HeldLease } from '../../../lib/core/internal/lease-handle.js';
import { granted } from './granted.js';

describe('The lease chain', () => {
  it('finds the hold of a lease above, also over other locks in between', async () => {
    const [door, window] = [granted('door'), granted('window')];
    expect(LeaseChain.find(door.identity)).toBeUndefined();
    await door.lease.run(() =>
      window.lease.run(async () => {
        await nextTurn();
        expect(LeaseChain.find(door.identity)).toBe(door.hold);
        expect(LeaseChain.find(window.identity)).toBe(window.hold);
        expect(currentLease()).toBe(window.lease);
      }),
    );
    expect(LeaseChain.find(door.identity)).toBeUndefined();
  });

  it('does not take the lock of another client, or of another id, for the same', async () => {
    const { lease, identity } = granted('door');
    await lease.run(() => {
      expect(LeaseChain.find({ ...identity, scope: {} })).toBeUndefined();
      expect(LeaseChain.find({ ...identity, name: 'window' })).toBeUndefined();
    });
  });

  it('passes over leases that are released or lost', async () => {
    const [released, lost] = [granted('door'), granted('window')];
    await released.lease.run(() =>
      lost.lease.run(async () => {
        await released.lease.release();
        lost.ledger.isExclusiveNow = false;
        expect(LeaseChain.find(released.identity)).toBeUndefined();
        expect(LeaseChain.find(lost.identity)).toBeUndefined();
        expect(currentLease()).toBe(lost.lease);
      }),
    );
  });

  it('finds the outer of two holds of one lock where the inner one is over', async () => {
    const outer = granted('door');
    const inner = new HeldLease(outer.hold);
    await outer.lease.run(() =>
      inner.run(async () => {
        await inner.release();
        expect(LeaseChain.find(outer.identity)).toBe(outer.hold);
      }),
    );
  });

  it('is not seen by siblings', async () => {
    const [left, right] = [granted('left'), granted('right')];
    const seen = await Promise.all([
      left.lease.run(() => nextTurn().then(() => LeaseChain.find(right.identity))),
      right.lease.run(() => nextTurn().then(() => LeaseChain.find(left.identity))),
    ]);
    expect(seen).toEqual([undefined, undefined]);
  });

  it('is left by work that is begun on behalf of nobody', async () => {
    const { lease, hold, identity } = granted();
    await lease.run(async () => {
      const seen = LeaseChain.leave(async () => {
        await nextTurn();
        return [currentLease(), LeaseChain.find(identity)];
      });
      expect(await seen).toEqual([undefined, undefined]);
      expect(LeaseChain.find(identity)).toBe(hold);
    });
  });

  it('is one for all copies of the package in the process', async () => {
    const { lease, hold, identity } = granted();
    jest.resetModules();
    const copy = await import('../../../lib/core/internal/lease-scope.js');
    expect(copy.LeaseChain).not.toBe(LeaseChain);
    await lease.run(() => expect(copy.LeaseChain.find(identity)).toBe(hold));
  });
});
