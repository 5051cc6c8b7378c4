import { beforeEach, describe, expect, it } from '@jest/globals';
import { currentLease, LeaseScope } from '../../../lib/core/internal/lease-scope.js';
import { LockLostError, LockNotHeldError } from '../../../lib/core/errors/index.js';
import type { MultiLease } from '../../../lib/core/internal/multi-lease.js';
import { MultiLock } from '../../../lib/core/multi-lock.js';
import { Part } from './multi-lock-part.js';

describe('The lease of a multi-lock', () => {
  let story: string[];
  let parts: Part[];
  let multi: MultiLock;
  let lease: MultiLease;

  beforeEach(async () => {
    story = [];
    parts = ['a', 'b', 'c'].map((key) => new Part(key, story));
    multi = new MultiLock(parts.toReversed());
    lease = await multi.acquire();
  });

  const grantOf = (part: number) => parts[part]!.grants[0]!;

  it('is held until it is released', async () => {
    const { signal } = lease;
    expect(lease).toMatchObject({ key: 'a + b + c', isHeld: true });
    lease.assertHeld();
    await lease.release();
    expect([lease.isHeld, signal.aborted]).toEqual([false, false]);
    expect(() => lease.assertHeld()).toThrow(LockNotHeldError);
    await expect(lease.fencingToken()).rejects.toBeInstanceOf(LockNotHeldError);
    await expect(lease.run(() => 'never')).rejects.toBeInstanceOf(LockNotHeldError);
  });

  it('has those of its parts', () => {
    expect(lease.leases.map(({ key }) => key)).toEqual(parts.map(({ identity }) => identity.name));
    expect(lease.leases.every(({ isHeld }) => isHeld)).toBe(true);
  });

  it.each([0, 1, 2])('is lost as soon as part %i is', async (part) => {
    const { signal } = lease;
    grantOf(part).hold.markLost('its session ended');
    expect(lease.isHeld).toBe(false);
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect((signal.reason as Error).message).toContain(`its part "/locks/${parts[part]!.key}"`);
    expect(() => lease.assertHeld()).toThrow(LockLostError);
    await expect(lease.fencingToken()).rejects.toBeInstanceOf(LockLostError);
    await expect(lease.run(() => 'never')).rejects.toBeInstanceOf(LockLostError);
  });

  it('asks its parts at the moment of the question whether they are still exclusive', () => {
    grantOf(1).ledger.isExclusiveNow = false;
    expect(lease.isHeld).toBe(false);
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
  });

  it('keeps the other parts until it is released, and then releases all of them', async () => {
    grantOf(1).hold.markLost('its session ended');
    expect([grantOf(0), grantOf(2)].map(({ lease }) => lease.isHeld)).toEqual([true, true]);
    await lease.release();
    expect(story.slice(3)).toEqual(['release c', 'release b', 'release a']);
  });

  it('is not lost by what happens to a part after the release', async () => {
    const { signal } = lease;
    await lease.release();
    grantOf(0).hold.markLost('its session ended');
    expect(signal.aborted).toBe(false);
    expect(() => lease.assertHeld()).toThrow(LockNotHeldError);
  });

  it('is no longer held when a part was released by itself', async () => {
    await lease.leases[1]!.release();
    expect(lease.isHeld).toBe(false);
    expect(() => lease.assertHeld()).toThrow(LockLostError);
    await lease.release();
    expect(story.slice(3)).toEqual(['release b', 'release c', 'release a']);
  });

  it('is the current one inside of run, with each part on the chain for acquires to re-enter', async () => {
    const found = await lease.run(() => {
      expect(currentLease()).toBe(lease);
      return parts.map(({ identity }) => LeaseScope.find(identity));
    });
    expect(found).toEqual([0, 1, 2].map((part) => grantOf(part).hold));
    expect(currentLease()).toBeUndefined();
    expect(LeaseScope.find(parts[0]!.identity)).toBeUndefined();
  });

  it('settles run as the work does', async () => {
    const error = new Error('no paper');
    const fail = () => {
      throw error;
    };
    await expect(lease.run(fail)).rejects.toBe(error);
    expect(await lease.run(async () => 'done')).toBe('done');
    expect(lease.isHeld).toBe(true);
  });

  it('is released by using, whatever the work does', async () => {
    await lease.release();
    story.length = 0;
    const error = new Error('no paper');
    const failing = multi.using(() => Promise.reject(error));
    await expect(failing).rejects.toBe(error);
    expect(await multi.using((held) => currentLease() === held)).toBe(true);
    expect(story.slice(3, 6)).toEqual(['release c', 'release b', 'release a']);
    expect(story).toHaveLength(12);
  });

  it('has a fencing token that grows when that of any part grows', async () => {
    const tokens = [3n, 9n, 5n];
    for (const part of [0, 1, 2]) grantOf(part).ledger.token = async () => tokens[part]!;
    expect(await lease.fencingToken()).toBe(9n);
  });
});
