import { expect } from '@jest/globals';
import { LockLostError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';

/** The lease says in every way it has that it was lost. */
export function expectLost(lease: Lease): void {
  expect(lease.isHeld).toBe(false);
  expect(lease.signal.aborted).toBe(true);
  expect(lease.signal.reason).toBeInstanceOf(LockLostError);
  expect(() => lease.assertHeld()).toThrow(LockLostError);
}
