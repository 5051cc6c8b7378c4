import type { Wait } from '../../core/lock.js';
import type { Bag } from '../../core/internal/swap-remove-set.js';
import type { ClientHold } from '../../core/internal/hold.js';
import type { AcquireContext } from '../../core/internal/acquire.js';
import type { ContenderLines } from '../recipes/line.js';

/** What one client shares with all of its locks. Its identity is the scope of re-entry. Times in milliseconds. */
export interface RedLockContext extends AcquireContext {
  /** Of how many servers a lock needs to be granted. */
  readonly majority: number;
  readonly servers: number;
  /** Bound on one question to one server. */
  readonly nodeTimeout: number;
  /** Bound of an acquire that names none. */
  readonly wait: Wait;
  /** Locks held. */
  readonly holds: Bag<ClientHold>;
  /** Who of this process wants which lock: only the first in each line asks the servers. */
  readonly lines: ContenderLines;
  /** From 0 to below 1. */
  readonly random: () => number;
  admits: 'all' | 'insiders' | 'nobody';
}
