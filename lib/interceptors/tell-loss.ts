import { Logger } from '@nestjs/common';
import type { Lease, LockLostError } from '../core/index.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';

const logger = new Logger('LockModule');

/** Runs `proceed`, and calls the plan's `onLost` should `lease` be lost before it has settled. */
export async function tellLoss(
  lease: Lease,
  { method, options }: LockPlan,
  args: unknown[],
  proceed: () => unknown,
): Promise<unknown> {
  const { signal } = lease;
  // Async, so that a throwing callback is a log line and not the end of the process.
  const tell = async () => options.onLost?.(signal.reason as LockLostError, ...(args as never[]));
  const onAbort = () =>
    void tell().catch((error) => logger.error(`onLost of ${method} failed`, error));
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await proceed();
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
