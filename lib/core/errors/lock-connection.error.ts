import { LockError, type LockErrorContext } from './lock-error.js';

/** The servers could not be reached, or refused what was asked. `message` says which and what to do. */
export class LockConnectionError extends LockError {
  static override readonly code = 'LOCK_CONNECTION';

  constructor(message: string, context: LockErrorContext = {}) {
    super('LOCK_CONNECTION', message, context);
  }
}
