import { LockError, type LockErrorContext } from './lock-error.js';

/** A member of a double barrier entered twice, or left without being inside. Nothing was changed. */
export class BarrierStateError extends LockError {
  static override readonly code = 'LOCK_BARRIER_STATE';

  /**
   * @param refused what was asked for: `entered` or `left`
   * @param why where the member is, in a few words
   */
  constructor(refused: string, why: string, context: LockErrorContext = {}) {
    const { key, client } = context;
    super(
      'LOCK_BARRIER_STATE',
      `The double barrier ${JSON.stringify(key)} of client "${client}" cannot be ${refused}: this member ${why}. Await \`enter()\`, then \`leave()\`, in turn; one object is one member, so make another for each.`,
      context,
    );
  }
}
