import { LockError, type LockErrorContext } from './lock-error.js';
import { shownValue } from './shown-value.js';

/** The key cannot name a lock. */
export class LockKeyError extends LockError {
  static override readonly code = 'LOCK_KEY';

  /** What was given as the key. */
  readonly value: unknown;
  /** What is wrong with it. */
  readonly why: string;

  constructor(key: unknown, why: string, context: LockErrorContext = {}) {
    super('LOCK_KEY', `${shownValue(key)} cannot be the key of a lock: ${why}.`, {
      ...context,
      key: typeof key === 'string' ? key : undefined,
    });
    this.value = key;
    this.why = why;
  }
}
