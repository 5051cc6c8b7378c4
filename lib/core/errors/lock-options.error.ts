import { LockError, type LockErrorContext } from './lock-error.js';
import { shownValue } from './shown-value.js';

/** An option is out of its range. */
export class LockOptionsError extends LockError {
  static override readonly code = 'LOCK_OPTIONS';

  /** Name of the option. */
  readonly option: string;
  /** What was given for it. */
  readonly value: unknown;
  /** What to give instead. */
  readonly expected: string;

  constructor(option: string, value: unknown, expected: string, context: LockErrorContext = {}) {
    super(
      'LOCK_OPTIONS',
      `Option \`${option}\` is ${shownValue(value)}. Give ${expected}.`,
      context,
    );
    this.option = option;
    this.value = value;
    this.expected = expected;
  }
}
