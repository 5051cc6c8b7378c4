import { exclusiveRecipe } from './exclusive-recipe.js';
import { readWriteRecipe } from './read-write-recipe.js';
import type { Recipe } from './recipe.js';

/** What is contended for on Redis; each of them is given its turn. */
export const REDIS_RECIPES: readonly Recipe[] = [
  exclusiveRecipe('lock', 'lock', false),
  exclusiveRecipe('fair lock', 'fair', false),
  exclusiveRecipe('fenced lock', 'fenced', true),
  // Readers who overlap all the time keep writers out.
  { ...readWriteRecipe('read/write lock, every other reads', 2), starves: true },
  readWriteRecipe('read/write lock, one in four reads', 4),
];
