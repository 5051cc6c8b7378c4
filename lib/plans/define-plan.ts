import { LockKeyError, LockOptionsError } from '../core/index.js';
import { validateLockKey, validatePermits } from '../core/internal/validation.js';
import type { LockTarget } from '../interfaces/lock-key.interface.js';
import type {
  LockMethodOptions,
  RunOnceOptions,
} from '../interfaces/lock-method-options.interface.js';
import type { LockPlan, RunOnceTarget } from '../interfaces/lock-plan.interface.js';

const POLICIES: readonly unknown[] = ['abort', 'throw', 'ignore'];

/** @throws LockOptionsError */
export function validateLockMethodOptions(options: LockMethodOptions): void {
  const { client, wait, lease, onBusy, onLost } = options;
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
    "milliseconds above 0, or 'forever'",
  );
  demand(
    lease === undefined || (Number.isFinite(lease) && lease > 0),
    'lease',
    'milliseconds above 0',
  );
  demand(
    onBusy === undefined || onBusy === 'throw' || onBusy === 'skip' || typeof onBusy === 'function',
    'onBusy',
    "'throw', 'skip' or a function",
  );
  demand(
    wait !== 'forever' || onBusy === undefined || onBusy === 'throw',
    'wait',
    'a number of milliseconds, as a wait for ever is never busy, or no `onBusy`',
  );
  demand(
    onLost === undefined || POLICIES.includes(onLost) || typeof onLost === 'function',
    'onLost',
    "'abort', 'throw', 'ignore' or a function",
  );
}

const LONGEST = 2 ** 31 - 1;

/** @throws LockOptionsError */
function validateRunOnce({
  atMost,
  atLeast,
}: Required<Omit<RunOnceOptions, 'client'>>): void {
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
}

const RECIPES: readonly unknown[] = [undefined, 'mutex', 'readLock', 'writeLock', 'semaphore'];

/**
 * Checks everything except the key.
 *
 * @throws LockOptionsError
 */
function validateLockTarget({ recipe, permits, client }: LockTarget): void {
  const demand = (holds: boolean, option: string, value: unknown, expected: string) => {
    if (!holds) throw new LockOptionsError(option, value, expected);
  };

  const recipes = "'mutex', 'readLock', 'writeLock' or 'semaphore'";
  demand(RECIPES.includes(recipe), 'recipe', recipe, recipes);
  if (recipe === 'semaphore') validatePermits(permits);
  else demand(permits === undefined, 'permits', permits, "them to the recipe 'semaphore' only");
  const isName = typeof client === 'string' && client !== '';
  demand(client === undefined || isName, 'client', client, 'the name of a lock client');
}

const PLACEHOLDER = /\{(\d+(?:\.[^.{}]+)*)\}/g;

const valueAt = (args: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce((value, field) => (value as Record<string, unknown> | null | undefined)?.[field], args);

/** True if the value may be part of a key. `NaN` and the empty string often result from a missing value. */
const isUsable = (value: unknown): boolean =>
  (typeof value === 'string' && value !== '') ||
  Number.isFinite(value) ||
  typeof value === 'bigint' ||
  typeof value === 'boolean';

/**
 * Returns a function of the arguments that fills in the placeholders of `template`, like `{0}` and `{0.order.id}`; without
 * placeholders, the template itself. Other braces are plain text.
 *
 * The function throws `LockKeyError` if an argument has no string, number or boolean at that path.
 */
function compileKeyTemplate(
  template: string,
  method: string,
): string | ((...args: unknown[]) => string) {
  if (template.search(PLACEHOLDER) === -1) return template;
  return (...args) =>
    template.replace(PLACEHOLDER, (placeholder, path: string) => {
      const value = valueAt(args, path);
      if (isUsable(value)) return String(value);
      const found =
        typeof value === 'object' && value !== null ? 'an object' : JSON.stringify(value);
      throw new LockKeyError(template, `${placeholder} is ${found} in a call of ${method}`);
    });
}

/**
 * Checks the arguments of a decorator and compiles key templates to functions.
 *
 * @throws LockOptionsError, LockKeyError naming the method
 */
export function definePlan(plan: LockPlan): LockPlan {
  const lock = withMethodInErrors(plan, () => {
    validateLockMethodOptions(plan.options);
    if (plan.once) validateRunOnce(plan.once);
    return checkedLock(plan);
  });
  return { ...plan, lock };
}

function checkedLock({ lock, method }: LockPlan): LockPlan['lock'] {
  if (lock.recipe === 'leaderLatch') {
    validateElectionName(lock.key);
    return lock;
  }
  if (lock.recipe === 'semaphoreMutex') return withCompiledKey(lock, method);
  if (lock.recipe !== 'multiLock') {
    validateLockTarget(lock);
    return withCompiledKey(lock, method);
  }
  const { members } = lock;
  if (typeof members === 'function') return lock;
  const targets = parseTargets(members).map((target) => withCompiledKey(target, method));
  return { ...lock, members: targets };
}

function withCompiledKey<T extends LockTarget | RunOnceTarget>(target: T, method: string): T {
  const { key } = target;
  if (typeof key === 'function') return target;
  validateLockKey(key);
  return { ...target, key: compileKeyTemplate(key, method) };
}

/**
 * Checks the name of an election in a decorator. It has no placeholders: the app takes part in it before there is a call.
 *
 * @throws LockKeyError
 */
export function validateElectionName(name: unknown): asserts name is string {
  validateLockKey(name);
  if (typeof compileKeyTemplate(name, '') === 'function')
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
  return targets;
}

function targetOf(member: unknown): LockTarget {
  const isTarget = typeof member === 'object' && member !== null;
  return (isTarget ? member : { key: member }) as LockTarget; // checked next
}

/** Returns the result of `step`; an error about a key or an option is rethrown with the name of the method. */
export function withMethodInErrors<T>(
  { decorator, method }: Pick<LockPlan, 'decorator' | 'method'>,
  step: () => T,
): T {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof LockKeyError || error instanceof LockOptionsError)) throw error;
    const context = { key: error.key, client: error.client, cause: error.cause };
    if (error instanceof LockKeyError)
      throw new LockKeyError(error.value, `${error.why} (it is the key of ${method})`, context);
    const expected = `${error.expected}, to @${decorator} of ${method}`;
    throw new LockOptionsError(error.option, error.value, expected, context);
  }
}
