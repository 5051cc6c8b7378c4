import type { AtomicStats } from './atomic-stats.js';

/** What became of a change of a distributed atomic number; Curator's class of that name. Look at `succeeded`. */
export interface AtomicValue<N> {
  /** False: nothing was changed. */
  readonly succeeded: boolean;
  /** What it was before; where nothing was changed, what was seen last. */
  readonly preValue: N;
  /** What it has become; where nothing was changed, `preValue`. */
  readonly postValue: N;
  readonly stats: AtomicStats;
}
