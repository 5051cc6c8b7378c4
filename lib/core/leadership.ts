import type { Lease } from './lease.js';

/** What a leader has while it is one. Its `signal` aborts with a `LockLostError` when it may not be the only one any more. */
export type Leadership = Pick<
  Lease,
  'key' | 'signal' | 'isHeld' | 'fencingToken' | 'assertHeld' | 'run'
>;
