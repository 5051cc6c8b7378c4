import type { LockClient } from '../core/index.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';
import type { LockTarget } from '../interfaces/lock-key.interface.js';
import type { LockClientRegistry } from '../lock-client.registry.js';
import { nameMethod } from './name-method.js';

/**
 * The client of one lock of a plan.
 *
 * @throws LockClientUnknownError; LockOptionsError when it cannot do what the options ask for; both naming the method
 */
export function clientOf(
  plan: LockPlan,
  target: Pick<LockTarget, 'client'>,
  clients: LockClientRegistry,
): LockClient {
  const { lease, client: byDefault } = plan.options;
  const client = clients.get(target.client ?? byDefault, plan.method);
  if (lease !== undefined) nameMethod(plan, () => client.validateLease(lease));
  return client;
}
