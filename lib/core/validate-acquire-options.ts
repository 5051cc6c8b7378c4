import type { AcquireOptions } from './acquire-options.js';
import { LockOptionsError, type LockErrorContext } from './errors/index.js';

/** Throws {@link LockOptionsError} unless `wait` and `signal` are in their range. */
export function validateAcquireOptions(options: AcquireOptions, context?: LockErrorContext): void {
  const { wait, signal } = options;
  if (wait !== undefined && wait !== 'forever' && !(Number.isFinite(wait) && wait > 0))
    throw new LockOptionsError(
      'wait',
      wait,
      "milliseconds above 0, or 'forever' (tryAcquire does not wait)",
      context,
    );
  if (signal !== undefined && typeof signal?.aborted !== 'boolean')
    throw new LockOptionsError('signal', signal, 'an AbortSignal', context);
}
