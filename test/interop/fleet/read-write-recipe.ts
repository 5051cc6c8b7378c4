import type { Recipe } from './recipe.js';

const isWrite = (lock: string) => lock.startsWith('write:');

/** A lock that many read or one writes; half of the workers of each language do either. */
export const readWriteRecipe: Recipe = {
  name: 'read/write',
  isOrdered: false,
  lock: (path, worker) => `${worker % 2 === 0 ? 'read' : 'write'}:${path}`,
  admits: (lock, others) =>
    isWrite(lock) ? others.length === 0 : !others.some((other) => isWrite(other.lock)),
};
