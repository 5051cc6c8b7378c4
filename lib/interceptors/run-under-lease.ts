import type { Lease } from '../core/index.js';
import { lossOf, useLease } from '../core/internal/lease-handle.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import { tellLoss } from './tell-loss.js';
import { untilLost } from './until-lost.js';

/** Runs `proceed` in the scope of `lease`, then releases it; settles as it does, or as `onLost` of the plan says. */
export function runUnderLease(
  lease: Lease,
  plan: LockPlan,
  args: unknown[],
  proceed: () => unknown,
): Promise<unknown> {
  const { onLost = 'throw' } = plan.options;
  if (onLost === 'ignore') return useLease(lease, proceed);
  if (typeof onLost === 'function') return useLease(lease, tellLoss(lease, plan, args, proceed));
  const toEnd = () => useUnlessLost(lease, proceed);
  return onLost === 'abort' ? untilLost(lease, toEnd) : toEnd();
}

/** As `useLease`, but rejects when the lease was lost meanwhile, whatever `proceed` gave. */
async function useUnlessLost(lease: Lease, proceed: () => unknown): Promise<unknown> {
  try {
    const result = await lease.run(proceed);
    const loss = lossOf(lease);
    if (loss) throw loss;
    return result;
  } finally {
    await lease.release();
  }
}
