import type { LockEventEmitter } from './lock-event-emitter.js';
import type { LockEvents, LockSubject } from './lock-events.js';
import type { LockRecipe } from './lock-identity.js';
import { openWait, type WaitContext, type WaitRequest } from './run-wait.js';
import { subjectOf } from './subject-of.js';
import type { WaitScope } from './wait-scope.js';

/** What is asked for. */
export interface AcquireRequest extends WaitRequest {
  readonly recipe: LockRecipe;
  /**
   * Keys of the locks that events are told of, where there are many.
   *
   * @default its `key`
   */
  readonly keys?: readonly string[];
}

/** The client that is asked. */
export interface AcquireContext extends WaitContext {
  readonly events: LockEventEmitter;
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
  request: AcquireRequest,
  work: (wait: WaitScope, contended: () => void) => Promise<T | undefined>,
): Promise<T | undefined> {
  const { events } = context;
  const wait = openWait(context, request);
  let wasContended = false;
  const contended = () => {
    if (!wasContended) tell(events, 'contended', request, {});
    wasContended = true;
  };
  try {
    const granted = await work(wait, contended);
    if (granted !== undefined) tell(events, 'acquired', request, { waitedMs: wait.elapsed });
    return granted;
  } catch (error) {
    tell(events, 'failed', request, { waitedMs: wait.elapsed, error });
    throw error;
  } finally {
    wait.end();
  }
}

function tell<E extends 'contended' | 'acquired' | 'failed'>(
  events: LockEventEmitter,
  event: E,
  { key, keys = [key], recipe, options: { method } }: AcquireRequest,
  about: Omit<LockEvents[E], keyof LockSubject>,
): void {
  if (!events.isHeard(event)) return;
  for (const each of keys)
    events.emit(event, Object.assign(subjectOf(each, recipe, method), about) as LockEvents[E]);
}
