import type { Lease, LockLostError } from '../core/index.js';
import { lossReason } from '../core/internal/lease-handle.js';
import { LeaseScope } from '../core/internal/lease-scope.js';
import { onAbort } from '../core/internal/timers.js';
import type { OnLost } from '../interfaces/lock-method-options.interface.js';
import type { LockedCall, LockPlan } from '../interfaces/lock-plan.interface.js';
import type { CallContext } from './call-context.js';

/**
 * Runs the method in the scope of `lease`, then releases it; settles as the method does, or as `onLost` of the plan says. The
 * scope is that of the method alone: `onLost` and the tracer are called outside of it.
 */
export function runUnderLease(
  lease: Lease,
  plan: LockPlan,
  call: LockedCall,
  { tracer, logger }: Pick<CallContext, 'tracer' | 'logger'>,
): Promise<unknown> {
  const { onLost = 'throw' } = plan.options;
  const inScope = () => lease.run(call.proceed);
  const work = tracer === undefined ? inScope : () => tracer.hold(plan, inScope, lease);
  if (onLost === 'throw' || onLost === 'ignore') return use(lease, work, onLost);

  let stop!: () => void;
  const lost = new Promise<never>((_, reject) => {
    const hear = onLost === 'abort' ? reject : caller(plan.method, call, onLost, logger);
    stop = onAbort(lease.signal, () => hear(lease.signal.reason as LockLostError));
  });
  return Promise.race([lost, use(lease, work, onLost)]).finally(stop);
}

/** Releases `lease` when `work` has ended; settles as it does, or rejects if the lease was lost and `onLost` demands that. */
async function use(lease: Lease, work: () => unknown, onLost: OnLost): Promise<unknown> {
  try {
    const result = await work();
    const loss = onLost === 'throw' || onLost === 'abort' ? lossReason(lease) : undefined;
    if (loss) throw loss;
    return result;
  } finally {
    if (typeof onLost === 'function') void lease.isHeld; // reports a loss that only the clock knows of
    await lease.release();
  }
}

type LossHandler = Extract<OnLost, (...args: never[]) => unknown>;

/** Calls that `onLost` in the async context of the call, but outside of any lease; its failure is logged, and does not crash the process. */
function caller(
  method: string,
  { self, args }: LockedCall,
  onLost: LossHandler,
  logger: CallContext['logger'],
) {
  const call = async (loss: LockLostError) => {
    try {
      await onLost.call(self, loss, ...(args as never[]));
    } catch (error) {
      logger.error(`onLost of ${method} failed`, error);
    }
  };
  const inContext = LeaseScope.contextOutside();
  return (loss: LockLostError) => void inContext(() => call(loss));
}
