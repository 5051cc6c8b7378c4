import { Logger } from '@nestjs/common';
import type { Lease, LockLostError } from '../core/index.js';
import { lossReason, runWithLease } from '../core/internal/lease-handle.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';

const logger = new Logger('LockModule');

/** `proceed`, with a plan's `onLost` called when `lease` is lost before its end. */
export function notifyOnLoss(
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

/** Runs `proceed` in the scope of `lease`, then releases it; settles as it does, or as `onLost` of the plan says. */
export function runUnderLease(
  lease: Lease,
  plan: LockPlan,
  args: unknown[],
  proceed: () => unknown,
): Promise<unknown> {
  const { onLost = 'throw' } = plan.options;
  if (onLost === 'ignore') return runWithLease(lease, proceed);
  if (typeof onLost === 'function')
    return runWithLease(lease, notifyOnLoss(lease, plan, args, proceed));
  const toEnd = () => useUnlessLost(lease, proceed);
  return onLost === 'abort' ? rejectOnLoss(lease, toEnd) : toEnd();
}

/** As `runWithLease`, but rejects when the lease was lost meanwhile, whatever `proceed` gave. */
async function useUnlessLost(lease: Lease, proceed: () => unknown): Promise<unknown> {
  try {
    const result = await lease.run(proceed);
    const loss = lossReason(lease);
    if (loss) throw loss;
    return result;
  } finally {
    await lease.release();
  }
}

/** Settles as `work` does, or rejects as soon as `lease` is lost; then nobody waits for the work any more. */
export async function rejectOnLoss<T>(lease: Lease, work: () => Promise<T>): Promise<T> {
  const { signal } = lease;
  let onAbort: (() => void) | undefined;
  const lost = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason as LockLostError);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([lost, work()]);
  } finally {
    signal.removeEventListener('abort', onAbort!);
  }
}
