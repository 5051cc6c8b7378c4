import type { RecipeOptions } from './recipe-options.interface.js';

/**
 * One lock: a key, and what of it to take.
 *
 * @typeParam K what a key may be: a text, or a function of the method's arguments
 */
export type LockTarget<K = string | ((...args: never[]) => unknown)> = RecipeOptions & {
  readonly key: K;
  /**
   * Name of its lock client.
   *
   * @default the `client` of the decorator
   */
  readonly client?: string;
};
