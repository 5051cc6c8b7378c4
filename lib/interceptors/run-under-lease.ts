import { Logger } from '@nestjs/common';
import type { Lease, LockLostError } from '../core/index.js';
import { lossReason, runWithLease } from '../core/internal/lease-handle.js';
import { onAbort } from '../core/internal/timers.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';

const logger = new Logger('LockModule');

/** Wraps `proceed` so that a plan's `onLost` is called if `lease` is lost before `proceed` ends. */
function notifyOnLoss(
  lease: Lease,
  { method, options }: LockPlan,
  args: unknown[],
  proceed: () => unknown,
): () => Promise<unknown> {
  const { onLost } = options;
  if (typeof onLost !== 'function') return async () => proceed();
  const { signal } = lease;
  // Async, so that an error of the callback is logged and does not crash the process.
  const tell = async () => onLost(signal.reason as LockLostError, ...(args as never[]));
  const logged = () =>
    void tell().catch((error) => logger.error(`onLost of ${method} failed`, error));
  onAbort(signal, logged);
  return async () => {
    try {
      return await proceed();
    } finally {
      void lease.isHeld; // checks the clock: reports a loss that no event has reported yet
    }
  };
}

/** Runs `proceed` in the scope of `lease`, then releases it; settles as `proceed` does, or as `onLost` of the plan says. */
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

/** As `runWithLease`, but rejects if the lease was lost meanwhile, whatever `proceed` returned. */
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

/** Settles as `work` does, or rejects as soon as `lease` is lost; the work is then no longer awaited. */
async function rejectOnLoss<T>(lease: Lease, work: () => Promise<T>): Promise<T> {
  const { signal } = lease;
  let stop!: () => void;
  const lost = new Promise<never>((_, reject) => {
    stop = onAbort(signal, () => reject(signal.reason as LockLostError));
  });
  try {
    return await Promise.race([lost, work()]);
  } finally {
    stop();
  }
}
