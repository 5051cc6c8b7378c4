import type { LeaderOptions } from './leader-options.js';

/** Options of a `LeaderSelector`. */
export interface LeaderSelectorOptions extends LeaderOptions {
  /**
   * Does it queue again each time that it has led?
   *
   * @default false
   */
  readonly autoRequeue?: boolean;
}
