import { LockError, type LockErrorContext } from './lock-error.js';

/** The key cannot name a lock. */
export class LockKeyError extends LockError {
  static override readonly code = 'LOCK_KEY';

  /** What is wrong with it. */
  readonly why: string;

  constructor(key: unknown, why: string, context: LockErrorContext = {}) {
    const shown = typeof key === 'string' ? JSON.stringify(key.slice(0, 80)) : String(key);
    super('LOCK_KEY', `${shown} cannot be the key of a lock: ${why}.`, {
      ...context,
      key: typeof key === 'string' ? key : undefined,
    });
    this.why = why;
  }
}
