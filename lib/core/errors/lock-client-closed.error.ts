import { contextText } from './context-text.js';
import { LockError, type LockErrorContext } from './lock-error.js';

/** The client is shutting down or closed: it grants nothing any more, and its waiters end with this. */
export class LockClientClosedError extends LockError {
  static override readonly code = 'LOCK_CLIENT_CLOSED';

  constructor(context: LockErrorContext = {}) {
    super(
      'LOCK_CLIENT_CLOSED',
      `${contextText(context)} cannot be acquired: the client is closing. Let the work end, or start it again in another process.`,
      context,
    );
  }
}
