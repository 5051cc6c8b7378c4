import { LockError, type LockErrorContext } from './lock-error.js';

/** The shared count or value was closed: it is neither kept up with nor set any more. */
export class SharedValueClosedError extends LockError {
  static override readonly code = 'LOCK_VALUE_CLOSED';

  /** @param what it is, as it stands in the message */
  constructor(what: string, context: LockErrorContext = {}) {
    const { key, client } = context;
    super(
      'LOCK_VALUE_CLOSED',
      `This ${what} ${JSON.stringify(key)} of client "${client}" was closed. Make a new one, or close it later.`,
      context,
    );
  }
}
