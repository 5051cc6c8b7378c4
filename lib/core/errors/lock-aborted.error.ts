import { contextText } from './context-text.js';
import { LockError, type LockErrorContext } from './lock-error.js';

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
