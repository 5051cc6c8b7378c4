import type { MutexRecipe } from './mutex-recipe.js';

/** The reentrant mutex. */
export const interProcessMutexRecipe: MutexRecipe = {
  make: (locks, key) => locks.mutex(key),
  client: 'contract',
  contenders: (path, queueIn) => queueIn(path),
};
