import { contextText } from './context-text.js';
import { LockError, type LockErrorContext } from './lock-error.js';

/** Something that needs a live lease was asked of a released one. */
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
