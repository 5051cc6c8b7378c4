import type { LockPlan, RunOnceTarget } from '../interfaces/lock-plan.interface.js';
import type { LockTarget } from '../interfaces/lock-key.interface.js';
import type { LockClientRegistry } from '../lock-client.registry.js';
import { clientOf } from './client-of.js';
import { lockOfCall } from './lock-of-call.js';
import type { LockSource } from './lock-source.js';
import { makeLock } from './make-lock.js';
import { nameMethod } from './name-method.js';

/**
 * The lock of one key; with a literal key it is the same for all calls.
 *
 * @throws LockClientUnknownError naming the method; LockKeyError, LockOptionsError naming it, when the client refuses a
 *   literal key
 */
export function keyedLockSource(
  plan: LockPlan,
  target: LockTarget | RunOnceTarget,
  clients: LockClientRegistry,
): LockSource {
  const client = clientOf(plan, target, clients);
  const { key } = target;
  if (typeof key === 'function')
    return (args) => lockOfCall(plan, client, target, key(...(args as never[])));
  const lock = nameMethod(plan, () => makeLock(client, target, key));
  return () => lock;
}
