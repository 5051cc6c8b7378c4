import { LockError } from './lock-error.js';

/** A decorator stands where it cannot lock, or have the method called. */
export class LockDecoratorTargetError extends LockError {
  static override readonly code = 'LOCK_DECORATOR_TARGET';

  /** Class and method, e.g. `Orders.pay`. */
  readonly method: string;

  /**
   * @param advice what to do instead, as a sentence
   * @param does what the decorator would have done with the method
   */
  constructor(
    decorator: string,
    method: string,
    why: string,
    advice: string,
    does: 'lock' | 'call' = 'lock',
  ) {
    super('LOCK_DECORATOR_TARGET', `@${decorator} cannot ${does} ${method}: ${why}. ${advice}`);
    this.method = method;
  }
}
