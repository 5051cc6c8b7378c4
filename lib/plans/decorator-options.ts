import { LockOptionsError } from '../core/index.js';
import { validateOptionNames } from '../core/internal/option-names.js';

const OF_METHODS = ['client', 'wait', 'lease', 'maxHold', 'signal', 'onBusy', 'onLost'];

/** Names of the options of each decorator, and of `withLock`. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  WithMutex: ['fair', 'fenced', 'handOff', ...OF_METHODS],
  ReadLock: ['handOff', ...OF_METHODS],
  WriteLock: OF_METHODS,
  WithMultiLock: OF_METHODS,
  LockDefaults: OF_METHODS,
  Semaphore: ['permits', 'fair', ...OF_METHODS],
  LockStream: ['recipe', 'permits', 'fair', 'fenced', 'handOff', 'as', ...OF_METHODS],
  RunOnce: ['atMost', 'atLeast', 'occurrence', 'client'],
  LeaderOnly: ['client', 'onLost'],
  OnLeadership: ['client'],
  OnLeadershipLost: ['client'],
  withLock: ['recipe', 'permits', 'fair', 'fenced', 'handOff', ...OF_METHODS],
};

const RECIPES: readonly unknown[] = [undefined, 'mutex', 'readLock', 'writeLock', 'semaphore'];

const OF_MEMBERS = ['key', 'recipe', 'permits', 'fair', 'fenced', 'handOff', 'client'];

/**
 * The options of a decorator as they were given, in a form that can be taken apart whatever it is; `validateDecoratorOptions`
 * checks it when the method is known.
 */
export function givenOptions<T extends object>(options: T): Partial<T> {
  return typeof options === 'object' && options !== null ? options : {};
}

/** @throws LockOptionsError for what is no object, and for options and recipes that the decorator does not have */
export function validateDecoratorOptions(decorator: string, options: unknown = {}): void {
  validateOptionNames(options, NAMES[decorator]!);
  validateRecipe((options as { recipe?: unknown }).recipe);
}

/** @throws LockOptionsError for a recipe that cannot be chosen by its name */
export function validateRecipe(recipe: unknown): void {
  if (RECIPES.includes(recipe)) return;
  throw new LockOptionsError('recipe', recipe, "'mutex', 'readLock', 'writeLock' or 'semaphore'");
}

/** @throws LockOptionsError for options that a member of a multi-lock does not have */
export function validateMemberOptions(member: object): void {
  validateOptionNames(member, OF_MEMBERS);
}
