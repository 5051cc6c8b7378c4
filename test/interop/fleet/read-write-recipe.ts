import type { Recipe } from './recipe.js';

const isWrite = (lock: string) => lock.startsWith('write:');

/** A lock with many readers or one writer; of the workers of each language, one in `every` reads, the others write. */
export function readWriteRecipe(name: string, every: number): Recipe {
  return {
    name,
    isOrdered: false,
    lock: (path, worker) => `${worker % every === 0 ? 'read' : 'write'}:${path}`,
    admits: (lock, others) =>
      isWrite(lock) ? others.length === 0 : !others.some((other) => isWrite(other.lock)),
  };
}
