import type { LockRecipe } from './lock-identity.js';

/** Is it an election, and no lock that somebody wants for a while? */
export function isElection(recipe: LockRecipe): boolean {
  return recipe === 'leaderLatch' || recipe === 'leaderSelector';
}
