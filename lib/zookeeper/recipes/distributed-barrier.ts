import type { LockSettings } from './lock-settings.js';
import type { RecipeContext } from './recipe-context.js';

/** Holds everybody up who waits at it, as long as it is set; Curator's class of that name. */
export class DistributedBarrier {
  readonly key: string;
  /** Path of the node. */
  readonly path: string;

  constructor(
    _context: RecipeContext,
    { key, path }: LockSettings,
  ) {
    this.key = key;
    this.path = path;
  }
}
