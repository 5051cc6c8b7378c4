import { LockKeyError, LockOptionsError } from '../core/index.js';
import { handOffOf, sharingOf } from '../core/hand-off.js';
import {
  isLease,
  isSignal,
  LEASE_RANGE,
  validateLockKey,
  validatePermits,
} from '../core/internal/validation.js';
import { validateOccurrence } from './occurrence.js';
import type { LockTarget } from '../interfaces/lock-key.interface.js';
import type { LockMethodOptions } from '../interfaces/lock-method-options.interface.js';
import type { LockPlan, RunOnceTarget } from '../interfaces/lock-plan.interface.js';
import { validateMemberOptions, validateRecipe } from './decorator-options.js';
import { isTemplate, KeyTemplate } from './key-template.js';

const NO_WAIT =
  'none, and `onBusy`: then a call does not wait at all. To answer 409: () => { throw new ConflictException(); }';
const POLICIES: readonly unknown[] = ['abort', 'throw', 'ignore'];

/** @throws LockOptionsError */
export function validateLockMethodOptions(options: LockMethodOptions): void {
  const { client, wait, lease, maxHold, signal, onBusy, onLost } = options;
  const demand = (holds: boolean, option: keyof typeof options, expected: string) => {
    if (!holds) throw new LockOptionsError(option, options[option], expected);
  };

  demand(
    client === undefined || (typeof client === 'string' && client !== ''),
    'client',
    'the name of a lock client',
  );
  demand(
    wait === undefined || wait === 'forever' || (Number.isFinite(wait) && wait > 0),
    'wait',
    wait === 0 ? NO_WAIT : "milliseconds above 0, or 'forever'",
  );
  demand(lease === undefined || isLease(lease), 'lease', LEASE_RANGE);
  demand(
    maxHold === undefined || (Number.isFinite(maxHold) && maxHold > 0),
    'maxHold',
    'milliseconds above 0',
  );
  demand(
    signal === undefined || typeof signal === 'function' || isSignal(signal),
    'signal',
    'an AbortSignal, or a function that returns one',
  );
  demand(
    onBusy === undefined || onBusy === 'throw' || onBusy === 'skip' || typeof onBusy === 'function',
    'onBusy',
    "'throw', 'skip' or a function",
  );
  demand(
    wait !== 'forever' || onBusy === undefined || onBusy === 'throw',
    'wait',
    'a number of milliseconds, as `onBusy` has no effect on an unbounded wait, or no `onBusy`',
  );
  demand(
    onLost === undefined || POLICIES.includes(onLost) || typeof onLost === 'function',
    'onLost',
    "'abort', 'throw', 'ignore' or a function",
  );
}

const LONGEST = 2 ** 31 - 1;

/** @throws LockOptionsError */
function validateRunOnce({ atMost, atLeast, occurrence }: NonNullable<LockPlan['once']>): void {
  const demand = (holds: boolean, option: string, value: unknown, expected: string) => {
    if (!holds) throw new LockOptionsError(option, value, expected);
  };
  const isWhole = (value: number) => Number.isInteger(value) && value <= LONGEST;

  demand(isWhole(atMost) && atMost > 0, 'atMost', atMost, 'whole milliseconds from 1 to 2^31 - 1');
  demand(
    isWhole(atLeast) && atLeast >= 0 && atLeast < atMost,
    'atLeast',
    atLeast,
    'whole milliseconds from 0 to below `atMost`',
  );
  if (occurrence !== undefined) validateOccurrence(occurrence);
}

/**
 * Checks everything except the key.
 *
 * @throws LockOptionsError
 */
function validateLockTarget(target: LockTarget): void {
  const demand = (holds: boolean, option: string, value: unknown, expected: string) => {
    if (!holds) throw new LockOptionsError(option, value, expected);
  };

  validateMemberOptions(target);
  const { recipe, permits, fair, fenced, handOff, client } = target;
  validateRecipe(recipe);
  if (recipe === 'semaphore') validatePermits(permits);
  else demand(permits === undefined, 'permits', permits, "them to the recipe 'semaphore' only");
  const isFlag = (value: unknown) => value === undefined || typeof value === 'boolean';
  const mayBeFair = recipe === undefined || recipe === 'mutex' || recipe === 'semaphore';
  demand(mayBeFair || fair === undefined, 'fair', fair, 'it to a mutex or a semaphore only');
  demand(isFlag(fair), 'fair', fair, 'true or false');
  const mayBeFenced = recipe === undefined || recipe === 'mutex';
  demand(mayBeFenced || fenced === undefined, 'fenced', fenced, 'it to a mutex only');
  demand(isFlag(fenced), 'fenced', fenced, 'true or false');
  const isRead = recipe === 'readLock';
  const mayGoOn = mayBeFenced || isRead || handOff === undefined;
  demand(mayGoOn, 'handOff', handOff, 'it to a mutex or a read lock only');
  if (isRead) sharingOf({ handOff }, undefined);
  else handOffOf({ handOff, fair, fenced }, undefined);
  const isName = typeof client === 'string' && client !== '';
  demand(client === undefined || isName, 'client', client, 'the name of a lock client');
}

/**
 * Checks the arguments of a decorator.
 *
 * @throws LockOptionsError, LockKeyError naming the method
 */
export function definePlan(plan: LockPlan): LockPlan {
  withMethodInErrors(plan, () => {
    validateLockMethodOptions(plan.options);
    if (plan.once) validateRunOnce(plan.once);
    validatePlannedLock(plan.lock);
  });
  return plan;
}

function validatePlannedLock(lock: LockPlan['lock']): void {
  if (lock.recipe === 'leaderLatch') return validateElectionName(lock.key);
  if (lock.recipe === 'multiLock') {
    if (typeof lock.members !== 'function') parseTargets(lock.members).forEach(validateTargetKey);
    return;
  }
  if (lock.recipe !== 'semaphoreMutex') validateLockTarget(lock);
  validateTargetKey(lock);
}

function validateTargetKey({ key }: LockTarget | RunOnceTarget): void {
  if (typeof key === 'function') return;
  validateLockKey(key);
  if (isTemplate(key)) new KeyTemplate(key);
}

/**
 * Checks the name of an election in a decorator. It has no placeholders: the app takes part in it before there is a call.
 *
 * @throws LockKeyError
 */
export function validateElectionName(name: unknown): asserts name is string {
  validateLockKey(name);
  if (isTemplate(name))
    throw new LockKeyError(name, 'it is the name of one election, so it has no placeholders');
}

/**
 * The locks that the members of a multi-lock specify. Their keys are not checked.
 *
 * @throws LockOptionsError
 */
export function parseTargets(members: unknown): LockTarget[] {
  if (!Array.isArray(members) || members.length === 0)
    throw new LockOptionsError('keys', members, 'an array of at least one key');
  const targets = members.map(targetOf);
  targets.forEach(validateLockTarget);
  for (const { handOff } of targets)
    if (handOff)
      throw new LockOptionsError('handOff', handOff, 'it to a lock that is locked alone');
  return targets;
}

function targetOf(member: unknown): LockTarget {
  const isTarget = typeof member === 'object' && member !== null;
  return (isTarget ? member : { key: member }) as LockTarget; // checked next
}

type PlanOrigin = Pick<LockPlan, 'decorator' | 'method'>;

/** Returns the result of `step`; an error about a key or an option is rethrown with the name of the method. */
export function withMethodInErrors<T>(plan: PlanOrigin, step: () => T): T {
  try {
    return step();
  } catch (error) {
    throw naming(plan, error);
  }
}

/** The error with the name of the method, if it is about a key or an option. */
export function naming({ decorator, method }: PlanOrigin, error: unknown): unknown {
  if (!(error instanceof LockKeyError || error instanceof LockOptionsError)) return error;
  const context = { key: error.key, client: error.client, cause: error.cause };
  if (error instanceof LockKeyError)
    return new LockKeyError(error.value, `${error.why} (it is the key of ${method})`, context);
  const given = decorator === 'withLock' ? 'withLock()' : `@${decorator}`;
  const expected = `${error.expected}, to ${given} of ${method}`;
  return new LockOptionsError(error.option, error.value, expected, context);
}
