import { LockError } from './lock-error.js';

/** A lock decorator stands where it cannot lock. */
export class LockDecoratorTargetError extends LockError {
  static override readonly code = 'LOCK_DECORATOR_TARGET';

  /** Class and method, e.g. `Orders.pay`. */
  readonly method: string;

  /** @param advice what to do instead, as a sentence */
  constructor(decorator: string, method: string, why: string, advice: string) {
    super('LOCK_DECORATOR_TARGET', `@${decorator} cannot lock ${method}: ${why}. ${advice}`);
    this.method = method;
  }
}
