import { contextText, LockError, type LockErrorContext } from './lock-error.js';

/** One of several acquires that wait for each other. */
export interface DeadlockedAcquire {
  readonly client: string;
  /** Name of its host, if it is in another process. */
  readonly host?: string | undefined;
  /** Id of its process, if that is another one. */
  readonly pid?: number | undefined;
  /** The `method` of the acquire; of a decorated call its class and method. */
  readonly method?: string | undefined;
  /** Key of the lock that its caller holds, and the one before it waits for. */
  readonly holds: string;
  /** The `method` by which that lock was acquired. */
  readonly holder?: string | undefined;
  /** Key of the lock that it waits for, and the next one holds. */
  readonly waitsFor: string;
}

/**
 * The acquire waits in a circle: for a lock whose holder waits for another one, and so on, up to a lock that its own caller holds.
 * None of them can be granted before another gives up. Nothing was acquired.
 */
export class LockDeadlockError extends LockError {
  static override readonly code = 'LOCK_DEADLOCK';

  constructor(
    /** The acquires in the circle: each waits for the lock of the next one, the last for that of the first. */
    readonly circle: readonly DeadlockedAcquire[],
    context: LockErrorContext = {},
  ) {
    super(
      'LOCK_DEADLOCK',
      `${contextText(context)} waits in a circle: ${circle.map(acquireText).join('; ')}. Acquire locks in the same order everywhere, or all at once by a multi-lock, and give each wait a bound.`,
      context,
    );
  }
}

function acquireText(acquire: DeadlockedAcquire): string {
  const { host, pid, method = 'a caller', holds, holder, waitsFor } = acquire;
  const [held, awaited] = [JSON.stringify(holds), JSON.stringify(waitsFor)];
  const who = pid === undefined ? method : `${method} (process ${pid} on ${host})`;
  if (holder === undefined || holder === method)
    return `${who} holds ${held} and waits for ${awaited}`;
  return `${who} waits for ${awaited} inside of ${holder}, which holds ${held}`;
}
