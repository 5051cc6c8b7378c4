import type { AcquireOptions } from './acquire-options.js';
import { LockClientClosedError } from './errors/index.js';
import type { LockEventEmitter } from './lock-event-emitter.js';
import { WaitScope, type WaitScopeContext } from './wait-scope.js';

/** What is asked for. */
export interface AcquireRequest {
  /** Key of the lock, as the user gave it. */
  readonly key: string;
  readonly options: AcquireOptions;
  /** Does the caller go on inside of a lock that it holds? Then it may finish while the client shuts down. */
  readonly isInside?: boolean;
}

/** The client that is asked. */
export interface AcquireContext {
  readonly client: string;
  readonly clock: WaitScopeContext['clock'];
  readonly events: LockEventEmitter;
  /** To whom anything is granted: from shutdown on only inside of locks that are held, in the end to nobody. */
  readonly admits: 'all' | 'insiders' | 'nobody';
  /** Acquires under way. */
  readonly waits: Set<WaitScope>;
}

/**
 * Runs `work` as an acquire under the bounds that were asked for, and tells its events; settles as it does.
 *
 * Rejects with `LockClientClosedError` when the client admits nobody like that.
 *
 * @param work resolves to what was granted, or to `undefined`; it calls `contended` when it begins to wait for others
 */
export async function runAcquire<T>(
  context: AcquireContext,
  { key, options, isInside = false }: AcquireRequest,
  work: (wait: WaitScope, contended: () => void) => Promise<T | undefined>,
): Promise<T | undefined> {
  const { client, clock, events, admits, waits } = context;
  const about = { key, client };
  const isAdmitted = admits === 'all' || (admits === 'insiders' && isInside);
  if (!isAdmitted) throw new LockClientClosedError(about);
  const wait = new WaitScope({ ...about, clock, open: waits }, options);
  let wasContended = false;
  const contended = () => {
    if (!wasContended) events.emit('contended', { key });
    wasContended = true;
  };
  try {
    const granted = await work(wait, contended);
    if (granted !== undefined) events.emit('acquired', { key, waitedMs: wait.elapsed });
    return granted;
  } catch (error) {
    events.emit('failed', { key, waitedMs: wait.elapsed, error });
    throw error;
  } finally {
    wait.end();
  }
}
