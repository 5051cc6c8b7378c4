import type { Recipe } from './recipe.js';

/** A lock with one holder at a time, with the word for it in the names of locks. */
export function exclusiveRecipe(name: string, word: string, isOrdered: boolean): Recipe {
  return {
    name,
    isOrdered,
    lock: (path) => `${word}:${path}`,
    admits: (_, others) => others.length === 0,
  };
}
