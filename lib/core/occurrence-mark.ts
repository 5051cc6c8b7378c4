import { LockOptionsError } from './errors/index.js';
import type { AcquireOptions } from './lock.js';

/** Bounds of a request about a mark. Default of `wait`: the `connectTimeout` of the client. */
export type OccurrenceMarkOptions = Pick<AcquireOptions, 'wait' | 'signal'>;

/**
 * The latest occurrence of a job that was begun by any process, kept on the servers: a time in ms since 1970 that only moves
 * forward. An occurrence is begun at most once: by the process that raised the mark to it.
 *
 * All methods reject with `LockTimeoutError` when the servers do not answer in time, with `LockAbortedError`,
 * `LockClientClosedError`, `LockConnectionError`; with `LockKeyError` when something else is stored there; and with
 * `LockOptionsError` when the occurrence is more than an hour ahead of the clock of the servers.
 */
export interface OccurrenceMark {
  /** Resolves to true if that occurrence, or a later one, was begun. False does not mean that `raise` will succeed. */
  isReached(occurrence: number, options?: OccurrenceMarkOptions): Promise<boolean>;
  /**
   * Raises the mark to that occurrence; resolves to false if it, or a later one, was begun. After a rejection it is unknown
   * whether the mark was raised, or will be.
   */
  raise(occurrence: number, options?: OccurrenceMarkOptions): Promise<boolean>;
}

/**
 * How far an occurrence may be ahead of the clock of the servers, in ms: a clock that is wrong by more cannot keep a job from
 * running until that time has come.
 */
export const FARTHEST_AHEAD = 3_600_000;

/** The error for an occurrence that is farther ahead than that. */
export function tooFarAhead(occurrence: number, key: string, client: string): LockOptionsError {
  return new LockOptionsError(
    'occurrence',
    new Date(occurrence).toISOString(),
    'a time that is at most an hour ahead of the clock of the lock servers; check the clocks of this machine and of the servers',
    { key, client },
  );
}
