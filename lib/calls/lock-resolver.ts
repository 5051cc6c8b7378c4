import { types } from 'node:util';
import type { Lock, LockClient } from '../core/index.js';
import type { LockTarget } from '../interfaces/lock-key.interface.js';
import type {
  LockedCall,
  LockPlan,
  MultiLockTarget,
  RunOnceTarget,
} from '../interfaces/lock-plan.interface.js';
import { parseTargets, withMethodInErrors } from '../plans/define-plan.js';
import { isTemplate, KeyTemplate } from '../plans/key-template.js';
import type { ClientsByName } from './call-context.js';

/**
 * The lock of a key that a function of the user has made of the arguments of a call.
 *
 * @throws LockKeyError, LockOptionsError naming the method
 */
function lockForKey(
  plan: LockPlan,
  client: LockClient,
  target: LockTarget | RunOnceTarget,
  key: unknown,
): Lock {
  // The client rejects a key that is not a string.
  return withMethodInErrors(plan, () => createLock(client, target, key as string));
}

/**
 * The key or the members that a function of the user has made for a call. A promise among them is refused later, and nothing waits
 * for it: its rejection must not end the process.
 */
function madeBy(make: Maker, { self, args }: Pick<LockedCall, 'self' | 'args'>): unknown {
  const made = make.apply(self, args as never[]);
  if (typeof made === 'string') return made;
  for (const each of [made].flat() as (Partial<LockTarget> | null | undefined)[])
    for (const key of [each, each?.key]) if (types.isPromise(key)) key.catch(() => {});
  return made;
}

type Maker = (this: unknown, ...args: never[]) => unknown;

/** Returns the lock that a call acquires. Errors of the user's key function pass through unchanged. */
type LockResolver = (call: Pick<LockedCall, 'self' | 'args'>) => Lock;

/**
 * Resolver for the lock of one key; with a literal key the lock is the same for all calls.
 *
 * @throws LockClientUnknownError naming the method; LockKeyError, LockOptionsError naming it, when the client rejects a literal
 *   key
 */
export function keyResolver(
  plan: LockPlan,
  target: LockTarget | RunOnceTarget,
  clients: ClientsByName,
): LockResolver {
  const client = clientFor(plan, target, clients);
  const { key } = target;
  if (typeof key === 'function')
    return (call) => lockForKey(plan, client, target, madeBy(key, call));
  if (isTemplate(key)) {
    const template = new KeyTemplate(key);
    return ({ args }) => {
      const filled = template.fillIn(args, plan.method);
      return withMethodInErrors(plan, () => createLock(client, target, filled));
    };
  }
  const lock = withMethodInErrors(plan, () => createLock(client, target, key));
  return () => lock;
}

/**
 * Resolver for all locks of the members as one; with literal keys the lock is the same for all calls.
 *
 * @throws LockClientUnknownError naming the method; LockKeyError, LockOptionsError naming it, when literal keys are rejected or
 *   cannot be combined
 */
export function multiLockResolver(
  plan: LockPlan,
  { members }: MultiLockTarget,
  clients: ClientsByName,
): LockResolver {
  const { options, method } = plan;
  const client = clients.get(options.client, method);
  const all = (locks: readonly Lock[]) => withMethodInErrors(plan, () => client.multiLock(locks));

  if (typeof members === 'function')
    return (call) => {
      const made = madeBy(members, call);
      const targets = withMethodInErrors(plan, () => parseTargets(made));
      return all(targets.map((it) => lockForKey(plan, clientFor(plan, it, clients), it, it.key)));
    };

  const targets = parseTargets(members);
  const sources = targets.map((target) => keyResolver(plan, target, clients));
  const locks: LockResolver = (call) => all(sources.map((source) => source(call)));
  if (targets.some(({ key }) => typeof key === 'function' || isTemplate(key))) return locks;
  const lock = locks({ self: undefined, args: [] });
  return () => lock;
}

/**
 * Creates the lock of `key`.
 *
 * @throws LockKeyError, LockOptionsError
 */
function createLock(client: LockClient, target: LockTarget | RunOnceTarget, key: string): Lock {
  switch (target.recipe) {
    case 'readLock':
      return client.readWriteLock(key, { handOff: target.handOff }).readLock();
    case 'writeLock':
      return client.readWriteLock(key).writeLock();
    case 'semaphore':
      return client.semaphore(key, { permits: target.permits, fair: target.fair });
    case 'semaphoreMutex':
      return client.semaphoreMutex(key);
    default: {
      const { fair, fenced, handOff } = target;
      return client.mutex(key, { fair, fenced, handOff });
    }
  }
}

/**
 * The client of one lock of a plan.
 *
 * @throws LockClientUnknownError; LockOptionsError when the client does not support the options; both naming the method
 */
function clientFor(
  plan: LockPlan,
  target: Pick<LockTarget, 'client'>,
  clients: ClientsByName,
): LockClient {
  const { lease, maxHold, client: byDefault } = plan.options;
  const client = clients.get(target.client ?? byDefault, plan.method);
  if (lease !== undefined || maxHold !== undefined)
    withMethodInErrors(plan, () => client.validateLease(lease, maxHold));
  return client;
}
