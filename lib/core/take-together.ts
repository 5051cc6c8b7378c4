import type { AcquireOptions } from './acquire-options.js';
import type { Lease } from './lease.js';

/**
 * Takes all of certain locks, or none: resolves to their leases in their order, or to `undefined` where others hold one of
 * them and it may not wait. Rejects as `Lock.acquire`.
 */
export type TakeTogether = (
  options: AcquireOptions,
  mayWait: boolean,
) => Promise<readonly Lease[] | undefined>;
