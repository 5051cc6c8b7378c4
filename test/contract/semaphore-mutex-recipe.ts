import type { MutexRecipe } from './mutex-recipe.js';

/** The mutex that is a semaphore of one permit, and not reentrant. */
export const semaphoreMutexRecipe: MutexRecipe = {
  make: (locks, key) => locks.semaphoreMutex(key),
  client: 'contract',
  async contenders(path, queueIn) {
    const [leases, gate] = await Promise.all([queueIn(`${path}/leases`), queueIn(`${path}/locks`)]);
    return [...leases, ...gate.slice(1)]; // the first at the gate has a lease too, that it waits with
  },
};
