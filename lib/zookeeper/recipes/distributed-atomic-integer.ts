import type { AtomicOptions } from './atomic-options.js';
import type { LockSettings } from './lock-settings.js';
import type { RecipeContext } from './recipe-context.js';

/** A counter; Curator's class of that name. */
export class DistributedAtomicInteger {
  readonly key: string;
  /** Path of the node. */
  readonly path: string;

  constructor(
    _context: RecipeContext,
    { key, path }: LockSettings,
    _options: AtomicOptions,
  ) {
    this.key = key;
    this.path = path;
  }
}
