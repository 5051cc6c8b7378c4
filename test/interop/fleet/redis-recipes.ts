import { exclusiveRecipe } from './exclusive-recipe.js';
import { readWriteRecipe } from './read-write-recipe.js';
import type { Recipe } from './recipe.js';

const FLEET = 8;
const PERMITS = 3;

/** A semaphore, with the word for it in the names of locks. */
function semaphoreRecipe(name: string, word: string): Recipe {
  return {
    name: `${name}(${PERMITS})`,
    permits: PERMITS,
    isOrdered: false,
    isAnonymous: true,
    lock: (path) => `${word}:${path}`,
    admits: (_, others) => others.length < PERMITS,
  };
}

const multiLock: Recipe = {
  ...exclusiveRecipe('multi-lock', '', false),
  isAnonymous: true,
  // In one slot, so that Node acquires them together.
  lock: (path) => ['a', 'b', 'c'].map((part) => `lock:{${path}}:${part}`).join('+'),
};

const latch: Recipe = {
  name: 'latch, in rounds',
  isOrdered: false,
  isInRounds: true,
  isAnonymous: true,
  lock: (path) => `rounds#${FLEET}:${path}`,
  admits: () => true,
};

/** What is contended for on Redis; each of them gets its turn. */
export const REDIS_RECIPES: readonly Recipe[] = [
  exclusiveRecipe('lock', 'lock', false),
  exclusiveRecipe('fair lock', 'fair', false),
  exclusiveRecipe('fenced lock', 'fenced', true),
  // Readers that overlap all the time keep writers out.
  { ...readWriteRecipe('read/write lock, every other reads', 2), starves: true },
  readWriteRecipe('read/write lock, one in four reads', 4),
  exclusiveRecipe('spin lock', 'spin', false),
  multiLock,
  semaphoreRecipe('semaphore', 'semaphore'),
  semaphoreRecipe('permit-expirable semaphore', 'permits'),
  latch,
];
