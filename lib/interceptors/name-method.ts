import { LockKeyError, LockOptionsError } from '../core/index.js';
import type { LockPlan } from '../interfaces/lock-plan.interface.js';

/** Gives what `step` does; an error about a key or an option comes out with the method whose they are. */
export function nameMethod<T>(
  { decorator, method }: Pick<LockPlan, 'decorator' | 'method'>,
  step: () => T,
): T {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof LockKeyError || error instanceof LockOptionsError)) throw error;
    const context = { key: error.key, client: error.client, cause: error.cause };
    if (error instanceof LockKeyError)
      throw new LockKeyError(error.value, `${error.why} (it is the key of ${method})`, context);
    const expected = `${error.expected}, to @${decorator} of ${method}`;
    throw new LockOptionsError(error.option, error.value, expected, context);
  }
}
