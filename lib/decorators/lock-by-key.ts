import type { LockKey, LockTarget } from '../interfaces/lock-key.interface.js';
import type {
  BusyHandler,
  LockMethodOptions,
  MutexMethodOptions,
} from '../interfaces/lock-method-options.interface.js';
import { givenOptions } from '../plans/decorator-options.js';
import { guardMethod } from '../plans/guard-method.js';
import { promiseMethod } from '../plans/method-kinds.js';
import type { AsyncMethodDecorator } from './decorator-types.js';

/**
 * A decorator of async methods that takes a key and options; the type of the method must include what `onBusy` answers.
 *
 * @typeParam Further options of this decorator alone
 */
export interface KeyLockDecorator<Further = unknown> {
  <A extends unknown[] = [], R = never, K extends string = string>(
    key: LockKey<A, K>,
    options?: LockMethodOptions<A, 'throw' | BusyHandler<A, R>> & Further,
  ): AsyncMethodDecorator<A, Awaited<R>, K>;
  <A extends unknown[] = [], K extends string = string>(
    key: LockKey<A, K>,
    options: LockMethodOptions<A, 'throw' | 'skip'> & Further,
  ): AsyncMethodDecorator<A, undefined, K>;
}

/** Makes the decorators that differ in their recipe only. */
export function lockByKey(
  decorator: string,
  recipe: 'mutex' | 'readLock' | 'writeLock',
): KeyLockDecorator {
  return (key: LockKey<never[]>, given: MutexMethodOptions = {}): AsyncMethodDecorator<never[]> => {
    const { fair, fenced, handOff, ...options } = givenOptions(given); // checked with the rest
    const lock = { recipe, key, fair, fenced, handOff } as LockTarget;
    const plan = { decorator, lock, options };
    return guardMethod(() => promiseMethod, plan, given);
  };
}
