import { Logger } from '@nestjs/common';
import { HeldLease } from '../core/internal/lease-handle.js';
import { LockOptionsError, type Lease, type LockLostError } from '../core/index.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';

const logger = new Logger('LockModule');

/**
 * Bounds how long a run of `@RunOnce` keeps the others out, from now on; logs when its lock is lost.
 *
 * @throws LockOptionsError when the lease is not of a client of this library, which alone can be told so
 */
export function boundRun(
  lease: Lease,
  { atMost, atLeast }: NonNullable<LockPlan['once']>,
  method: string,
): void {
  if (!(lease instanceof HeldLease)) {
    void lease.release();
    throw new LockOptionsError('client', undefined, `a client of this library, to ${method}`);
  }
  const { hold, signal } = lease;
  hold.atLeast = atLeast;
  hold.revokeAfter(atMost, `it was held for its \`atMost\` of ${atMost} ms`);
  const warn = () => {
    const { message } = signal.reason as LockLostError;
    logger.warn(`${method} is still running, and others may run it now: ${message}`);
  };
  if (signal.aborted) warn();
  else signal.addEventListener('abort', warn, { once: true });
}
