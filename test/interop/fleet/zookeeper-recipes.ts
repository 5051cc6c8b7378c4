import { exclusiveRecipe } from './exclusive-recipe.js';
import { readWriteRecipe } from './read-write-recipe.js';
import type { Recipe } from './recipe.js';

const PERMITS = 3;
const semaphore: Recipe = {
  name: `semaphore(${PERMITS})`,
  directories: ['locks', 'leases'],
  isOrdered: false,
  lock: (path) => `semaphore#${PERMITS}:${path}`,
  admits: (_, others) => others.length < PERMITS,
};

/** What is contended for on ZooKeeper; each of them gets its turn. */
export const ZOOKEEPER_RECIPES: readonly Recipe[] = [
  exclusiveRecipe('mutex', 'mutex', true),
  readWriteRecipe('read/write', 2),
  semaphore,
];
