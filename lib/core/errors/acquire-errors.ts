import { contextText, LockError, type LockErrorContext } from './lock-error.js';

/** The caller's `AbortSignal` ended the wait; `cause` is the signal's reason. */
export class LockAbortedError extends LockError {
  static override readonly code = 'LOCK_ABORTED';

  constructor(context: LockErrorContext = {}) {
    super(
      'LOCK_ABORTED',
      `The wait for ${contextText(context)} was aborted by its signal. Nothing was acquired; see \`cause\` for the reason.`,
      context,
    );
  }
}

/** The lease may no longer be exclusive: its session or its time is over, or the lock was taken away. */
export class LockLostError extends LockError {
  static override readonly code = 'LOCK_LOST';

  constructor(
    /** The reason, in a few words. */
    readonly why: string,
    context: LockErrorContext = {},
  ) {
    super(
      'LOCK_LOST',
      `${contextText(context)} is no longer held: ${why}. Stop the protected work and do not write its results, or guard them with the fencing token; then acquire again.`,
      context,
    );
  }
}

/** An operation that needs a live lease was called on a released one. */
export class LockNotHeldError extends LockError {
  static override readonly code = 'LOCK_NOT_HELD';

  constructor(context: LockErrorContext = {}) {
    super(
      'LOCK_NOT_HELD',
      `${contextText(context)} was already released by this lease. Do the work before \`release()\`, or acquire again.`,
      context,
    );
  }
}

/** The write lock was requested inside the held read lock of the same lock, where it would wait for itself. */
export class LockUpgradeError extends LockError {
  static override readonly code = 'LOCK_UPGRADE';

  constructor(context: LockErrorContext = {}) {
    super(
      'LOCK_UPGRADE',
      `The write lock of ${contextText(context)} was asked for while this very call holds its read lock, so it would wait for itself. Release the read lock before, or take the write lock first: reading inside of that is allowed.`,
      context,
    );
  }
}

/**
 * The wait ran out before the lock was granted. Nothing of the attempt is left in the queue. Its `cause` is set if the
 * servers did not answer the last request, or rejected it.
 */
export class LockTimeoutError extends LockError {
  static override readonly code = 'LOCK_TIMEOUT';

  /** The wait that the caller allowed, in milliseconds. */
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
