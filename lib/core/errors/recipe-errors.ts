import { LockError, type LockErrorContext } from './lock-error.js';

/** A counter would exceed the range it can hold. It was not changed. */
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

/** The latch or selector was closed: it no longer takes part in an election. */
export class ElectionClosedError extends LockError {
  static override readonly code = 'LOCK_ELECTION_CLOSED';

  constructor(context: LockErrorContext = {}) {
    const { key, client } = context;
    super(
      'LOCK_ELECTION_CLOSED',
      `This participant has left the election ${JSON.stringify(key)} of client "${client}": it was closed, or its client was closed. Make a new one to take part again.`,
      context,
    );
  }
}

/** The shared count or value was closed: it is no longer updated and cannot be set. */
export class SharedValueClosedError extends LockError {
  static override readonly code = 'LOCK_VALUE_CLOSED';

  /** @param what the kind of value, as worded in the message */
  constructor(what: string, context: LockErrorContext = {}) {
    const { key, client } = context;
    super(
      'LOCK_VALUE_CLOSED',
      `This ${what} ${JSON.stringify(key)} of client "${client}" was closed. Make a new one, or close it later.`,
      context,
    );
  }
}

/** A member of a double barrier entered twice, or left without being inside. Nothing was changed. */
export class BarrierStateError extends LockError {
  static override readonly code = 'LOCK_BARRIER_STATE';

  /**
   * @param refused the rejected operation: `entered` or `left`
   * @param why the state of the member, in a few words
   */
  constructor(refused: string, why: string, context: LockErrorContext = {}) {
    const { key, client } = context;
    super(
      'LOCK_BARRIER_STATE',
      `The double barrier ${JSON.stringify(key)} of client "${client}" cannot be ${refused}: this member ${why}. Await \`enter()\`, then \`leave()\`, in turn; one object is one member, so make one object for each member.`,
      context,
    );
  }
}
