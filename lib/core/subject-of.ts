import { isElection } from './is-election.js';
import type { LockSubject } from './lock-events.js';
import type { LockRecipe } from './lock-identity.js';

/**
 * A new object. What is added to it at every acquire or release is assigned, not spread: see `withWait`.
 *
 * @param asker the `method` of the acquire; in an election it is the id of the participant, which is no piece of code
 */
export function subjectOf(key: string, recipe: LockRecipe, asker?: string): LockSubject {
  return isElection(recipe) ? { key, recipe, participant: asker } : { key, recipe, method: asker };
}
