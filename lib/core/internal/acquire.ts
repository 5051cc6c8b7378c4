import { LockClientClosedError } from '../errors/index.js';
import { type LockEvents, type LockSubject, lockSubject } from '../lock-events.js';
import type { AcquireOptions, LockRecipe, Wait } from '../lock.js';
import type { LockEventEmitter } from './lock-event-emitter.js';
import type { SwapRemoveSet } from './swap-remove-set.js';
import { WaitScope, type WaitScopeContext } from './wait-scope.js';

/** What is asked for. */
export interface WaitRequest {
  /** What kind of lock it is, where it is one. */
  readonly recipe?: LockRecipe;
  /** Key of the lock, as the user gave it. */
  readonly key: string;
  readonly options: AcquireOptions;
  /** Does the caller go on inside of a lock that it holds? Then it may finish while the client shuts down. */
  readonly isInside?: boolean;
}

/** The client that is asked. */
export interface WaitContext {
  readonly client: string;
  readonly clock: WaitScopeContext['clock'];
  /** To whom anything is granted: from shutdown on only inside of locks that are held, in the end to nobody. */
  readonly accepts: 'all' | 'reentrant' | 'none';
  /** Acquires under way. */
  readonly waits: SwapRemoveSet<WaitScope>;
}

/**
 * The bounds that were asked for; whoever opens them ends them.
 *
 * @throws LockClientClosedError when the client accepts nobody like that
 */
function openWait(
  { client, clock, accepts, waits }: WaitContext,
  { key, recipe, options, isInside = false }: WaitRequest,
): WaitScope {
  const isAccepted = accepts === 'all' || (accepts === 'reentrant' && isInside);
  if (!isAccepted) throw new LockClientClosedError({ key, client });
  return new WaitScope({ key, client, clock, open: waits, recipe }, options);
}

/**
 * Runs `work` under the bounds that were asked for; settles as it does.
 *
 * Rejects with `LockClientClosedError` when the client accepts nobody like that.
 */
export async function runWait<T>(
  context: WaitContext,
  request: WaitRequest,
  work: (wait: WaitScope) => Promise<T>,
): Promise<T> {
  const wait = openWait(context, request);
  try {
    return await work(wait);
  } finally {
    wait.end();
  }
}

/** What is asked for, of a lock. */
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
 * Rejects with `LockClientClosedError` when the client accepts nobody like that.
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
    events.emit(event, Object.assign(lockSubject(each, recipe, method), about) as LockEvents[E]);
}

/** The options with another `wait`. Assigned: a spread with more behind it takes half a microsecond, at every acquire. */
export function withDefaultWait<O extends AcquireOptions>(options: O, wait: Wait | undefined): O {
  return Object.assign({}, options, { wait });
}
