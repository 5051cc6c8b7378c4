import { LockError, type LockErrorContext } from './lock-error.js';

/** An option is out of its range. */
export class LockOptionsError extends LockError {
  static override readonly code = 'LOCK_OPTIONS';

  /** Name of the option. */
  readonly option: string;

  constructor(option: string, value: unknown, expected: string, context: LockErrorContext = {}) {
    const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
    super('LOCK_OPTIONS', `Option \`${option}\` is ${shown}. Give ${expected}.`, context);
    this.option = option;
  }
}
