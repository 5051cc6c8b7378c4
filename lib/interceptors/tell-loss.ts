import { Logger } from '@nestjs/common';
import type { Lease, LockLostError } from '../core/index.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';

const logger = new Logger('LockModule');

/** `proceed`, with a plan's `onLost` called when `lease` is lost before its end. */
export function tellLoss(
  lease: Lease,
  { method, options }: LockPlan,
  args: unknown[],
  proceed: () => unknown,
): () => Promise<unknown> {
  const { onLost } = options;
  if (typeof onLost !== 'function') return async () => proceed();
  const { signal } = lease;
  // Async, so that a callback that throws is a log line, and not the end of the process.
  const tell = async () => onLost(signal.reason as LockLostError, ...(args as never[]));
  const onAbort = () =>
    void tell().catch((error) => logger.error(`onLost of ${method} failed`, error));
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return async () => {
    try {
      return await proceed();
    } finally {
      void lease.isHeld; // asks the clock: a loss that no event could tell yet is told now
    }
  };
}
