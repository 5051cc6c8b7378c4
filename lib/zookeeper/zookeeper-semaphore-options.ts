import type { NodeOptions } from './recipes/node-data.js';
import type { SharedCountReader } from './recipes/shared-count-reader.js';

/** Options of a semaphore on ZooKeeper. */
export interface ZooKeeperSemaphoreOptions extends NodeOptions {
  /**
   * How many holders at a time: a whole number from 1 to 2^31 - 1, or a started `SharedCount`, which may be changed while
   * the semaphore is in use.
   */
  readonly permits: number | SharedCountReader;
}
