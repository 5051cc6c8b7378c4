/** Which of the locks of a key to take. */
export type RecipeOptions =
  | {
      /** @default 'mutex' */
      readonly recipe?: 'mutex' | 'readLock' | 'writeLock';
      readonly permits?: undefined;
    }
  | {
      readonly recipe: 'semaphore';
      /** How many holders at a time: a whole number from 1 to 2^31 - 1. */
      readonly permits: number;
    };
