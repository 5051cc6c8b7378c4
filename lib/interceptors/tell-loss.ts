import { Logger } from '@nestjs/common';
import type { Lease, LockLostError } from '../core/index.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';

const logger = new Logger('LockModule');

/** Calls the plan's `onLost` when `lease` is lost before its release. */
export function tellLoss(lease: Lease, { method, options }: LockPlan, args: unknown[]): void {
  const { signal } = lease;
  // Async, so that a callback that throws is a log line, and not the end of the process.
  const tell = async () => options.onLost?.(signal.reason as LockLostError, ...(args as never[]));
  const onAbort = () =>
    void tell().catch((error) => logger.error(`onLost of ${method} failed`, error));
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
}
