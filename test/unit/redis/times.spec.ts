import { describe, expect, it } from '@jest/globals';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import { driftAdjustedDeadline } from '../../../lib/redis/locks/redis-hold.js';
import { validateLease } from '../../../lib/redis/locks/redis-lease.js';

describe('The safe deadline of a lease', () => {
  it.each([100, 300, 30_000, 2 ** 31 - 1])('of %d ms is before its end, by any clock', (lease) => {
    const deadline = driftAdjustedDeadline(1_000, lease);
    expect(deadline).toBeGreaterThan(1_000);
    const byAFastClock = (deadline - 1_000) * 1.01; // one that runs one percent faster than ours
    expect(byAFastClock).toBeLessThan(lease);
  });

  it('leaves most of the shortest lease', () => {
    expect(driftAdjustedDeadline(0, 100)).toBeCloseTo(97);
  });
});

describe('A lease', () => {
  const refusing = (lease: unknown, roundTrip?: number) => () =>
    validateLease('lease', lease, { key: 'orders' }, roundTrip);

  it.each([100, 101, 30_000, 2 ** 31 - 1])('may have %d ms', (lease) => {
    expect(refusing(lease)).not.toThrow();
  });

  it.each([99, 0, -1, 100.5, 2 ** 31, NaN, Infinity, '100', null, undefined, 100n])(
    'may not have %p ms',
    (lease) => {
      expect(refusing(lease)).toThrow(LockOptionsError);
    },
  );

  it('needs time for three round trips', () => {
    expect(refusing(300, 100)).not.toThrow();
    expect(refusing(299, 100)).toThrow(/three round trips to the server, which takes 100 ms/);
  });
});
