import { contextText } from './context-text.js';
import { LockError, type LockErrorContext } from './lock-error.js';

/** The write lock was asked for inside of the held read lock of the same lock, where it would wait for itself. */
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
