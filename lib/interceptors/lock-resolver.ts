import type { LockClientRegistry } from '../clients/lock-client.registry.js';
import { type Lock, type LockClient, LockKeyError } from '../core/index.js';
import type { LockTarget } from '../interfaces/lock-key.interface.js';
import type {
  LockPlan,
  MultiLockTarget,
  RunOnceTarget,
} from '../interfaces/lock-plan.interface.js';
import { withMethodInErrors, parseTargets } from '../plans/define-plan.js';

/** What a missing value or an object has become by being put into a text. */
const SPOILT = /^(?:undefined|null|NaN)$|\[object Object\]/;

/**
 * The lock of a key that was made of the arguments of a call.
 *
 * @throws LockKeyError, LockOptionsError naming the method
 */
export function lockForCall(
  plan: LockPlan,
  client: LockClient,
  target: LockTarget | RunOnceTarget,
  key: unknown,
): Lock {
  return withMethodInErrors(plan, () => {
    if (typeof key === 'string' && SPOILT.test(key))
      throw new LockKeyError(key, 'a value is missing or is an object');
    return createLock(client, target, key as string); // the client refuses what is no text
  });
}

/** Gives the lock that a call with these arguments takes. An error of the user's key function comes out as it is. */
export type LockResolver = (args: unknown[]) => Lock;

/**
 * The lock of one key; with a literal key it is the same for all calls.
 *
 * @throws LockClientUnknownError naming the method; LockKeyError, LockOptionsError naming it, when the client refuses a
 *   literal key
 */
export function keyResolver(
  plan: LockPlan,
  target: LockTarget | RunOnceTarget,
  clients: LockClientRegistry,
): LockResolver {
  const client = clientFor(plan, target, clients);
  const { key } = target;
  if (typeof key === 'function')
    return (args) => lockForCall(plan, client, target, key(...(args as never[])));
  const lock = withMethodInErrors(plan, () => createLock(client, target, key));
  return () => lock;
}

/**
 * All locks of the members as one; with literal keys it is the same for all calls.
 *
 * @throws LockClientUnknownError naming the method; LockKeyError, LockOptionsError naming it, when literal keys are
 *   refused, or cannot be had together
 */
export function multiLockResolver(
  plan: LockPlan,
  { members }: MultiLockTarget,
  clients: LockClientRegistry,
): LockResolver {
  const { options, method } = plan;
  const client = clients.get(options.client, method);
  const all = (locks: readonly Lock[]) => withMethodInErrors(plan, () => client.multiLock(locks));

  if (typeof members === 'function')
    return (args) => {
      const given = members(...(args as never[]));
      const targets = withMethodInErrors(plan, () => parseTargets(given));
      return all(targets.map((it) => lockForCall(plan, clientFor(plan, it, clients), it, it.key)));
    };

  const targets = parseTargets(members);
  const sources = targets.map((target) => keyResolver(plan, target, clients));
  const locks = (args: unknown[]) => all(sources.map((source) => source(args)));
  if (targets.some(({ key }) => typeof key === 'function')) return locks;
  const lock = locks([]);
  return () => lock;
}

/**
 * The lock of `key`.
 *
 * @throws LockKeyError, LockOptionsError
 */
export function createLock(
  client: LockClient,
  target: LockTarget | RunOnceTarget,
  key: string,
): Lock {
  switch (target.recipe) {
    case 'readLock':
      return client.readWriteLock(key).readLock();
    case 'writeLock':
      return client.readWriteLock(key).writeLock();
    case 'semaphore':
      return client.semaphore(key, { permits: target.permits });
    case 'semaphoreMutex':
      return client.semaphoreMutex(key);
    default:
      return client.mutex(key);
  }
}

/**
 * The client of one lock of a plan.
 *
 * @throws LockClientUnknownError; LockOptionsError when it cannot do what the options ask for; both naming the method
 */
export function clientFor(
  plan: LockPlan,
  target: Pick<LockTarget, 'client'>,
  clients: LockClientRegistry,
): LockClient {
  const { lease, client: byDefault } = plan.options;
  const client = clients.get(target.client ?? byDefault, plan.method);
  if (lease !== undefined) withMethodInErrors(plan, () => client.validateLease(lease));
  return client;
}
