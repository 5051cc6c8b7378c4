import { LockError } from './lock-error.js';

/** A locked method was called on an instance that Nest has not wired. The method was not run. */
export class LockInterceptorMissingError extends LockError {
  static override readonly code = 'LOCK_INTERCEPTOR_MISSING';

  /** Class and method, e.g. `Orders.pay`. */
  readonly method: string;

  constructor(method: string) {
    super(
      'LOCK_INTERCEPTOR_MISSING',
      `${method} was not run: its instance has no LockInterceptor to take the lock. Let Nest create the instance, in an app or TestingModule that imports LockModule, and call the method on it.`,
    );
    this.method = method;
  }
}
