import type { LockMethodOptions, OnBusy } from './lock-method-options.interface.js';
import type { RecipeOptions } from './recipe-options.interface.js';

/** Options of `@LockStream`, on a method whose arguments begin with `A`. */
export type LockStreamOptions<A extends unknown[] = never[], B = OnBusy<A>> = LockMethodOptions<
  A,
  B
> &
  RecipeOptions;
