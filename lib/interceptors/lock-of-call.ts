import { LockKeyError, type Lock, type LockClient } from '../core/index.js';
import type { LockPlan, RunOnceTarget } from '../interfaces/lock-plan.interface.js';
import type { LockTarget } from '../interfaces/lock-key.interface.js';
import { makeLock } from './make-lock.js';
import { nameMethod } from './name-method.js';

/** What a missing value or an object has become by being put into a text. */
const SPOILT = /^(?:undefined|null|NaN)$|\[object Object\]/;

/**
 * The lock of a key that was made of the arguments of a call.
 *
 * @throws LockKeyError, LockOptionsError naming the method
 */
export function lockOfCall(
  plan: LockPlan,
  client: LockClient,
  target: LockTarget | RunOnceTarget,
  key: unknown,
): Lock {
  return nameMethod(plan, () => {
    if (typeof key === 'string' && SPOILT.test(key))
      throw new LockKeyError(key, 'a value is missing or is an object');
    return makeLock(client, target, key as string); // the client refuses what is no text
  });
}
