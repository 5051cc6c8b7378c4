import type { LockSettings } from './lock-settings.js';
import type { RecipeContext } from './recipe-context.js';

/** Lets so many members begin together, and end together; Curator's class of that name. */
export class DistributedDoubleBarrier {
  readonly key: string;
  /** Directory of the members. */
  readonly path: string;

  constructor(
    _context: RecipeContext,
    { key, path }: LockSettings,
    _memberQty: number,
  ) {
    this.key = key;
    this.path = path;
  }
}
