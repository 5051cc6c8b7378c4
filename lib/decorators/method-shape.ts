import type { LockPlan } from '../interfaces/lock-plan.interface.js';

/** What a locked method returns, and with it how a call is brought under the lock. */
export interface MethodShape {
  /** What to write where a method does not have this shape. */
  readonly advice: string;
  /**
   * Why a method does not have this shape, as far as that shows before it is called.
   *
   * @param returns the type of the result that the compiler has written down, if it has
   */
  mismatch(method: object, returns: unknown): string | undefined;
  /** Calls the method, `proceed`, under the lock of `plan`. */
  call(self: unknown, plan: LockPlan, args: unknown[], proceed: () => unknown): unknown;
}
