import { LockOptionsError } from '../core/index.js';
import { validatePermits } from '../core/internal/validation.js';
import type { LockTarget } from '../interfaces/lock-key.interface.js';

const RECIPES: readonly unknown[] = [undefined, 'mutex', 'readLock', 'writeLock', 'semaphore'];

/**
 * Checks everything but the key.
 *
 * @throws LockOptionsError
 */
export function validateLockTarget({ recipe, permits, client }: LockTarget): void {
  const demand = (holds: boolean, option: string, value: unknown, expected: string) => {
    if (!holds) throw new LockOptionsError(option, value, expected);
  };

  const recipes = "'mutex', 'readLock', 'writeLock' or 'semaphore'";
  demand(RECIPES.includes(recipe), 'recipe', recipe, recipes);
  if (recipe === 'semaphore') validatePermits(permits);
  else demand(permits === undefined, 'permits', permits, "them to the recipe 'semaphore' only");
  const isName = typeof client === 'string' && client !== '';
  demand(client === undefined || isName, 'client', client, 'the name of a lock client');
}
