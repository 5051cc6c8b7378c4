import type { MutexRecipe } from './mutex-recipe.js';

/** Two mutexes as one. */
export const multiLockRecipe: MutexRecipe = {
  make: (locks, key) => locks.multiLock([locks.mutex(`${key}.b`), locks.mutex(`${key}.a`)]),
  contenders: (path, queueIn) => queueIn(`${path}.a`), // where everybody begins
};
