import { contextText } from './context-text.js';
import { LockError, type LockErrorContext } from './lock-error.js';

/**
 * The wait ran out before the lock was granted. Nothing of the attempt is left in the queue. Its `cause` is set where the
 * servers did not answer, or refused, when they were asked last.
 */
export class LockTimeoutError extends LockError {
  static override readonly code = 'LOCK_TIMEOUT';

  /** How long the caller had allowed, in milliseconds. */
  readonly waitedMs: number;

  constructor(waitedMs: number, context: LockErrorContext = {}) {
    const { cause } = context;
    const why = cause instanceof Error ? ` (${cause.message})` : '';
    const advice =
      cause === undefined
        ? 'Retry later, raise `wait`, or hold the lock for a shorter time.'
        : 'The last question was not answered: look after the servers.';
    super(
      'LOCK_TIMEOUT',
      `${contextText(context)} was not granted within ${waitedMs} ms${why}. ${advice}`,
      context,
    );
    this.waitedMs = waitedMs;
  }
}
