import { LockError, type LockErrorContext } from './lock-error.js';
import { shownValue } from './shown-value.js';

/** An option is out of its range. */
export class LockOptionsError extends LockError {
  static override readonly code = 'LOCK_OPTIONS';

  /** Name of the option. */
  readonly option: string;

  constructor(option: string, value: unknown, expected: string, context: LockErrorContext = {}) {
    super(
      'LOCK_OPTIONS',
      `Option \`${option}\` is ${shownValue(value)}. Give ${expected}.`,
      context,
    );
    this.option = option;
  }
}
