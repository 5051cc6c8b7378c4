import type { AcquireOptions, Lock } from '../../lib/core/lock.js';
import type { Lease } from '../../lib/core/lease.js';
import type { LockClient } from '../../lib/core/lock-client.js';
import { nextEvent } from './next-event.js';

/** Has a client queue for a lock of its; resolves when it does, with the lease to come. */
export async function queueFor(
  lock: Lock,
  locks: LockClient,
  options?: AcquireOptions,
): Promise<{ lease: Promise<Lease> }> {
  const contended = nextEvent(locks, 'contended');
  const lease = lock.acquire(options);
  lease.catch(() => {}); // read by the test, later
  await Promise.race([contended, lease]);
  return { lease };
}
