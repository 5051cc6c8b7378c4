import { LockError, type LockErrorContext } from './lock-error.js';

/** A counter would go beyond the numbers that it can hold. It was not changed. */
export class CounterOverflowError extends LockError {
  static override readonly code = 'LOCK_COUNTER_OVERFLOW';

  constructor(result: number | bigint, bits: 32 | 64, context: LockErrorContext = {}) {
    const { key, client } = context;
    super(
      'LOCK_COUNTER_OVERFLOW',
      `The counter ${JSON.stringify(key)} of client "${client}" would be ${result}, and it holds ${bits} bits only. Set it to a smaller number, or use a new key.`,
      context,
    );
  }
}
