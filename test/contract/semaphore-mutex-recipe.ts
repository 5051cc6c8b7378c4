import { eventually } from '../support/eventually.js';
import type { MutexRecipe } from './mutex-recipe.js';

/** The mutex that is a semaphore of one permit, and not reentrant. */
export const semaphoreMutexRecipe: MutexRecipe = {
  make: (locks, key) => locks.semaphoreMutex(key),
  client: 'contract',
  /** The first at the gate has a lease too, that it waits with; until then it has just come, or is about to leave. */
  contenders: (path, queueIn) =>
    eventually('the first at the gate has its lease', async () => {
      const places = [queueIn(`${path}/leases`), queueIn(`${path}/locks`)] as const;
      const [leases, gate] = await Promise.all(places);
      return (gate.length === 0 || leases.length > 1) && [...leases, ...gate.slice(1)];
    }),
};
