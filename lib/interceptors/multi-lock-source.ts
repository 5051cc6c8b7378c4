import type { Lock } from '../core/index.js';
import type { LockPlan, MultiLockTarget } from '../interfaces/lock-plan.interface.js';
import type { LockClientRegistry } from '../lock-client.registry.js';
import { clientOf } from './client-of.js';
import { keyedLockSource } from './keyed-lock-source.js';
import { lockOfCall } from './lock-of-call.js';
import type { LockSource } from './lock-source.js';
import { nameMethod } from './name-method.js';
import { targetsOf } from './targets-of.js';

/**
 * All locks of the members as one; with literal keys it is the same for all calls.
 *
 * @throws LockClientUnknownError naming the method; LockKeyError, LockOptionsError naming it, when literal keys are
 *   refused, or cannot be had together
 */
export function multiLockSource(
  plan: LockPlan,
  { members }: MultiLockTarget,
  clients: LockClientRegistry,
): LockSource {
  const { options, method } = plan;
  const client = clients.get(options.client, method);
  const all = (locks: readonly Lock[]) => nameMethod(plan, () => client.multiLock(locks));

  if (typeof members === 'function')
    return (args) => {
      const given = members(...(args as never[]));
      const targets = nameMethod(plan, () => targetsOf(given));
      return all(targets.map((it) => lockOfCall(plan, clientOf(plan, it, clients), it, it.key)));
    };

  const targets = targetsOf(members);
  const sources = targets.map((target) => keyedLockSource(plan, target, clients));
  const locks = (args: unknown[]) => all(sources.map((source) => source(args)));
  if (targets.some(({ key }) => typeof key === 'function')) return locks;
  const lock = locks([]);
  return () => lock;
}
