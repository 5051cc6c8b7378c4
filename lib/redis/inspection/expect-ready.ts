import { LockConnectionError } from '../../core/errors/index.js';
import type { RecipeContext } from '../recipes/recipe-context.js';

/** @throws LockConnectionError unless commands go through now: those of an operator are not kept for later */
export function expectReady({ client, connection }: RecipeContext): void {
  if (connection.isReady) return;
  throw new LockConnectionError(
    `Lock client "${client}" is not connected to its server now. Check that it runs.`,
    { client },
  );
}
