import { LockError, type LockErrorContext } from './lock-error.js';

/** The latch or selector was closed: it takes part in no election any more. */
export class ElectionClosedError extends LockError {
  static override readonly code = 'LOCK_ELECTION_CLOSED';

  constructor(context: LockErrorContext = {}) {
    const { key, client } = context;
    super(
      'LOCK_ELECTION_CLOSED',
      `This one has left the election ${JSON.stringify(key)} of client "${client}": it was closed, or its client was. Make a new one to take part again.`,
      context,
    );
  }
}
