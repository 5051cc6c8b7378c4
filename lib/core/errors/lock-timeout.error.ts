import { contextText } from './context-text.js';
import { LockError, type LockErrorContext } from './lock-error.js';

/** The wait ran out before the lock was granted. Nothing of the attempt is left in the queue. */
export class LockTimeoutError extends LockError {
  static override readonly code = 'LOCK_TIMEOUT';

  /** How long the caller had allowed, in milliseconds. */
  readonly waitedMs: number;

  constructor(waitedMs: number, context: LockErrorContext = {}) {
    super(
      'LOCK_TIMEOUT',
      `${contextText(context)} was not granted within ${waitedMs} ms. Retry later, raise \`wait\`, or hold the lock for a shorter time.`,
      context,
    );
    this.waitedMs = waitedMs;
  }
}
