import { AsyncResource } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import { LockLostError, LockNotHeldError } from '../../../lib/core/errors/index.js';
import { EventLoopStalls } from '../../../lib/core/internal/event-loop-stalls.js';
import { type ClientHold, Hold } from '../../../lib/core/internal/hold.js';
import { LeaseHandle, runWithLease } from '../../../lib/core/internal/lease-handle.js';
import type * as scopes from '../../../lib/core/internal/lease-scope.js';
import { currentLease, LeaseScope } from '../../../lib/core/internal/lease-scope.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import { OrderedSet } from '../../../lib/core/collections/ordered-set.js';
import { withCopy } from '../../support/copies.js';
import { Deferred } from '../../support/time.js';
import { granted } from './fakes.js';

describe('A hold', () => {
  it('is freed once, when the last of its leases is released', async () => {
    const { hold, lease, ledger } = granted();
    const again = new LeaseHandle(hold);
    await lease.release();
    await lease.release();
    expect([hold.isLive, ledger.freed]).toEqual([true, 0]);
    await Promise.all([again.release(), again.release()]);
    expect([hold.isLive, ledger.freed]).toEqual([false, 1]);
  });

  it('asks the clock at the moment of the question, and notifies all listeners at once', () => {
    const { hold, ledger } = granted();
    const told: string[] = [];
    hold.onLost((error) => told.push(error.message));
    expect(hold.lost).toBeUndefined();
    ledger.isExclusiveNow = false;
    expect(told).toEqual([]);
    expect(hold.isLive).toBe(false);
    expect(told).toEqual([expect.stringContaining('its session or its lease may have expired')]);
  });

  it.each(['release', 'markLost'] as const)('is watched for stalls until its %s', async (end) => {
    const { shared } = EventLoopStalls;
    const ended = jest.spyOn(shared, 'end');
    try {
      const { hold, lease } = granted();
      hold.withdraw('its client closes');
      expect(ended).not.toHaveBeenCalled();
      await hold[end]('its session ended');
      expect(ended).toHaveBeenCalledTimes(1);
      await lease.release();
      expect(ended).toHaveBeenCalledTimes(1);
    } finally {
      ended.mockRestore();
    }
  });

  it('stays lost for the first reason, whatever comes', () => {
    const { hold, ledger } = granted();
    hold.markLost('its session ended');
    hold.markLost('its node was deleted');
    ledger.isExclusiveNow = true;
    expect(hold.isLive).toBe(false);
    expect(hold.lost).toBeInstanceOf(LockLostError);
    expect(hold.lost).toMatchObject({ key: 'door', client: 'unit', code: 'LOCK_LOST' });
    expect(hold.lost!.message).toContain('its session ended');
  });

  it('stays among the holds of its client until it is freed, also when it is lost', async () => {
    const holds = new OrderedSet<ClientHold>();
    const client = { clock: systemClock, events: new LockEventEmitter(), holds };
    const { identity, ledger } = granted();
    const hold = new Hold(identity, { key: 'door' }, ledger, undefined, client);
    hold.markLost('its session ended');
    expect([...holds]).toEqual([hold]);
    await hold.revoke('the client was closed');
    expect([[...holds], ledger.freed]).toEqual([[], 1]);
  });

  it('notifies its backend of the loss, once, and not of one that comes after it was freed', async () => {
    const [lost, freed] = [granted(), granted()];
    lost.hold.markLost('once');
    lost.hold.markLost('twice');
    expect(lost.ledger.losses).toBe(1);
    await freed.lease.release();
    freed.hold.markLost('too late');
    expect(freed.ledger.losses).toBe(0);
  });

  it('notifies no listener that was removed, and each other one once', () => {
    const { hold } = granted();
    const told: string[] = [];
    hold.onLost(() => told.push('first'));
    const stop = hold.onLost(() => told.push('second'));
    stop();
    hold.markLost('once');
    hold.markLost('twice');
    expect(told).toEqual(['first']);
  });

  it('is no longer lost by what happens after it was freed', async () => {
    const { hold, lease, ledger } = granted();
    await lease.release();
    ledger.isExclusiveNow = false;
    hold.markLost('too late');
    expect(hold.lost).toBeUndefined();
    expect(lease.signal.aborted).toBe(false);
  });

  it('is freed although it was lost, for a node may still be there', async () => {
    const { hold, lease, ledger } = granted();
    hold.markLost('its session ended');
    await lease.release();
    expect(ledger.freed).toBe(1);
  });

  it('can be revoked: lost first, then freed, and the later releases are harmless', async () => {
    const { hold, lease, ledger } = granted();
    const { signal } = lease;
    const revoked = hold.revoke('the client was closed');
    expect(signal.aborted).toBe(true);
    await revoked;
    await lease.release();
    expect(ledger.freed).toBe(1);
  });

  it('asks for its fencing token once, and again after a failure', async () => {
    const { lease, ledger } = granted();
    ledger.token = async () => Promise.reject(new Error('no answer'));
    await expect(lease.fencingToken()).rejects.toThrow('no answer');
    ledger.token = async () => 12n;
    expect(await Promise.all([lease.fencingToken(), lease.fencingToken()])).toEqual([12n, 12n]);
    expect(ledger.asked).toBe(2);
  });
});

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

  it('is the scope of a query that begins when it is awaited, too', async () => {
    const { lease } = granted();
    const query = { then: (done: (found: unknown) => void) => done(currentLease()) };
    expect(await lease.run(() => query as never as Promise<unknown>)).toBe(lease);
    expect(currentLease()).toBeUndefined();
  });

  it('is not the scope of work that was bound outside, as for a pool that starts it inside', async () => {
    const { lease } = granted();
    const jobs = [() => currentLease(), AsyncResource.bind(() => currentLease())];
    expect(await lease.run(() => jobs.map((job) => job()))).toEqual([lease, undefined]);
  });

  it('keeps useLease waiting until the lock is free', async () => {
    const { lease, ledger } = granted();
    const freed = new Deferred();
    ledger.free = () => freed.promise;
    let isOver = false;
    const use = runWithLease(Promise.resolve(lease), () => 'done').then(
      (result) => ((isOver = true), result),
    );
    await Promise.resolve();
    expect(isOver).toBe(false);
    freed.resolve();
    expect(await use).toBe('done');
  });
});

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
    await withCopy<typeof scopes>('core/internal/lease-scope', async (copy) => {
      expect(copy.LeaseScope).not.toBe(LeaseScope);
      await lease.run(() => expect(copy.LeaseScope.find(identity)).toBe(hold));
    });
  });
});
