import { contextText } from './context-text.js';
import { LockError, type LockErrorContext } from './lock-error.js';

/** The lease may no longer be exclusive: its session or its time is over, or somebody took the lock away. */
export class LockLostError extends LockError {
  static override readonly code = 'LOCK_LOST';

  constructor(
    /** What happened, in a few words. */
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
