import type { LockSettings } from './lock-settings.js';
import type { RecipeContext } from './recipe-context.js';

/** Bytes that everybody sees and may change; Curator's class of that name. */
export class SharedValue {
  readonly key: string;
  /** Path of the node. */
  readonly path: string;

  constructor(
    _context: RecipeContext,
    { key, path }: LockSettings,
    _seed: Uint8Array,
  ) {
    this.key = key;
    this.path = path;
  }
}
