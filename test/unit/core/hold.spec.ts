import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import { LockLostError } from '../../../lib/core/errors/index.js';
import { type ClientHold, Hold } from '../../../lib/core/internal/hold.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import { SwapRemoveSet } from '../../../lib/core/internal/swap-remove-set.js';
import { LeaseHandle } from '../../../lib/core/internal/lease-handle.js';
import { granted } from './granted.js';

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
    const holds = new SwapRemoveSet<ClientHold>();
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
