import type { MutexOptions, ReadWriteLockOptions, SemaphoreOptions } from '../core/index.js';

/** Kind of lock of a key. */
export type RecipeOptions =
  | ({
      /** @default 'mutex' */
      readonly recipe?: 'mutex' | undefined;
      readonly permits?: undefined;
    } & MutexOptions)
  | ({
      readonly recipe: 'readLock';
      readonly permits?: undefined;
      readonly fair?: undefined;
      readonly fenced?: undefined;
    } & ReadWriteLockOptions)
  | {
      readonly recipe: 'writeLock';
      readonly permits?: undefined;
      readonly fair?: undefined;
      readonly fenced?: undefined;
      readonly handOff?: undefined;
    }
  | ({
      readonly recipe: 'semaphore';
      readonly fenced?: undefined;
      readonly handOff?: undefined;
    } & SemaphoreOptions);

/**
 * One lock: a key and the kind of lock.
 *
 * @typeParam K type of the key: a string, or a function of the method's arguments
 */
export type LockTarget<K = string | ((...args: never[]) => unknown)> = RecipeOptions & {
  readonly key: K;
  /**
   * Name of its lock client.
   *
   * @default the `client` of the decorator
   */
  readonly client?: string | undefined;
};

/** One lock of several: a key, which means the mutex of that key, or a key with further options. */
export type LockMember<K = LockTarget['key']> = K | LockTarget<K>;

/**
 * The key that a decorated call locks.
 *
 * - A string: one lock for all calls. Placeholders `{0}` and `{0.order.id}` stand for an argument, counted from 0, and for a
 *   property inside it: `'order:{0.id}'`. The compiler checks those of a literal against the method. Different values give
 *   different keys: in a value that another one follows, the character that ends it is percent-encoded, and `%`.
 * - A function of the method's arguments, or of the first of them: `(order: Order) => `order:${order.id}``.
 */
export type LockKey<A extends unknown[] = [], K extends string = string> =
  K | ((...args: A) => string);

/**
 * The keys of a call that acquires several locks: at least one.
 *
 * - A list of keys as for `@WithMutex`: `['account:{0.id}', 'account:{1.id}']`.
 * - A function of the method's arguments, or of the first of them, that returns the list:
 *   `(from: Account, to: Account) => [from.id, to.id]`.
 */
export type LockKeys<A extends unknown[] = [], K extends string = string> =
  readonly LockMember<LockKey<A, K>>[] | ((...args: A) => readonly LockMember<string>[]);
