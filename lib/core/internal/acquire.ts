import { LockClientClosedError, type LockDeadlockError } from '../errors/index.js';
import { type LockEvents, type LockSubject, lockSubject } from '../lock-events.js';
import { type AcquireOptions, isElection, type LockRecipe, type Wait } from '../lock.js';
import { Deadlocks } from '../deadlocks/deadlocks.js';
import type { PeerDeadlocks } from '../deadlocks/peer-deadlocks.js';
import { type LeaseAround, LeaseScope } from './lease-scope.js';
import type { LockEventEmitter } from './lock-event-emitter.js';
import { partsHeld } from './multi-lease.js';
import type { OrderedSet } from '../collections/ordered-set.js';
import { WaitScope, type WaitScopeContext } from './wait-scope.js';
import type { Waiters } from './waiter-limits.js';

/** Around an acquire that is not inside of a lock. */
const NOTHING: readonly LeaseAround[] = [];

/** A request to wait for something. */
interface WaitRequest {
  /** Recipe of the lock, if it is a lock. */
  readonly recipe?: LockRecipe;
  /** Key of the lock, as the user gave it. */
  readonly key: string;
  /**
   * Keys of the locks, if there are several.
   *
   * @default its `key`
   */
  readonly keys?: readonly string[];
  readonly options: AcquireOptions;
  /**
   * Whether it waits while others have the lock, so that it counts as a waiter (see `WaiterLimits`), except in elections: few
   * take part in them, for as long as the client lives.
   *
   * @default false
   */
  readonly mayWait?: boolean;
  /**
   * Bound on the wait if the options set none.
   *
   * @default 'forever'
   */
  readonly wait?: Wait;
  /**
   * Whether it continues work that may finish while the client shuts down.
   *
   * @default whether the caller is inside a lock that it holds
   */
  readonly isInside?: boolean;
}

/** The client of a wait. */
export interface WaitContext {
  readonly client: string;
  readonly clock: WaitScopeContext['clock'];
  /** Which requests are granted: from shutdown on only those inside held locks, in the end none. */
  readonly accepts: 'all' | 'nested' | 'none';
  /** Bound on waits that have none, in ms: see `LockClient.limitWaits`. */
  readonly longestWait?: number | undefined;
  /** Why the servers cannot be asked now, if so. Default: that is not known. */
  readonly trouble?: () => Error | undefined;
  /** Acquires under way. */
  readonly waits: OrderedSet<WaitScope>;
  /** Those of them that may wait, by key. */
  readonly waiters: Waiters;
}

/**
 * Refuses what a client that shuts down does not grant any more.
 *
 * @throws LockClientClosedError
 */
export function refuseUnlessAccepted(
  { client, accepts }: Pick<WaitContext, 'client' | 'accepts'>,
  key: string,
  isInside: boolean,
): void {
  const isAccepted = accepts === 'all' || (accepts === 'nested' && isInside);
  if (!isAccepted) throw new LockClientClosedError({ key, client });
}

/**
 * Opens a wait with the requested bounds; the caller must end it.
 *
 * @throws LockClientClosedError when the client does not accept the request
 */
function openWait(context: WaitContext, request: WaitRequest): WaitScope {
  const { client, clock, waits, longestWait } = context;
  const { key, recipe, options, wait, isInside = LeaseScope.isInsideLock() } = request;
  refuseUnlessAccepted(context, key, isInside);
  const about = { key, client, clock, open: waits, recipe, isInside, owner: context };
  const scope = new WaitScope(about, options, wait);
  if (longestWait !== undefined) scope.bound(longestWait);
  return scope;
}

/**
 * Counts the request as a waiter, if it is one; returns whether it is.
 *
 * @throws LockQueueFullError
 */
function enterQueue({ waiters }: WaitContext, request: WaitRequest): boolean {
  const { key, keys = [key], recipe, mayWait = false } = request;
  if (!mayWait || (recipe !== undefined && isElection(recipe))) return false;
  waiters.enter(keys);
  return true;
}

/** Not a function of each waiter: there may be thousands. */
function leaveQueue({ waiters }: WaitContext, { key, keys = [key] }: WaitRequest): void {
  waiters.leave(keys);
}

/**
 * Runs `work` within the requested bounds; settles as it does.
 *
 * Rejects with `LockClientClosedError` when the client does not accept the request, and with `LockQueueFullError` when too many
 * wait.
 */
export async function runWait<T>(
  context: WaitContext,
  request: WaitRequest,
  work: (wait: WaitScope) => Promise<T>,
): Promise<T> {
  const wait = openWait(context, request);
  let isCounted = false;
  try {
    isCounted = enterQueue(context, request);
    return await work(wait);
  } finally {
    if (isCounted) leaveQueue(context, request);
    wait.end();
  }
}

/**
 * Begins an acquire; what that throws, the result rejects with. Not an async function, as its frame would stay on the heap for as
 * long as the acquire waits, and there may be thousands.
 */
export function beginAcquire<L>(begin: () => L | Promise<L>): Promise<L> {
  try {
    const result = begin();
    return result instanceof Promise ? result : Promise.resolve(result);
  } catch (error) {
    const failure = error as Error;
    return Promise.reject(failure);
  }
}

/** A request to acquire a lock. */
export interface AcquireRequest extends WaitRequest {
  readonly recipe: LockRecipe;
  readonly mayWait: boolean;
}

/** The client of an acquire. */
export interface AcquireContext extends WaitContext {
  readonly events: LockEventEmitter;
  /** Those with other processes; `undefined` if no other process can reach the locks. */
  readonly deadlocks?: PeerDeadlocks | undefined;
}

/**
 * Runs `work` as an acquire within the requested bounds, and emits its events; settles as it does.
 *
 * Rejects with `LockClientClosedError` when the client does not accept the request, and with `LockQueueFullError` when too many
 * wait.
 *
 * @param work resolves to the grant, or to `undefined`; it calls `wait.contended` when it starts to wait for others
 */
export async function runAcquire<T>(
  context: AcquireContext,
  request: AcquireRequest,
  work: (wait: WaitScope) => Promise<T | undefined>,
): Promise<T | undefined> {
  const { events } = context;
  const wait = openWait(context, request);
  let wasContended = false;
  const scopes = wait.isInside ? LeaseScope.around() : NOTHING;
  let leaveCircle: (() => void) | undefined;
  const contended = () => {
    if (wasContended) return;
    wasContended = true;
    emit(events, 'contended', request, () => ({}));
    if (!request.mayWait) return;
    const around = [...scopes, ...partsHeld(request.options)];
    if (around.length > 0) leaveCircle = watchForDeadlock(context, request, wait, around);
  };
  wait.contended = contended;
  let isCounted = false;
  try {
    isCounted = enterQueue(context, request);
    const granted = await work(wait);
    if (granted !== undefined)
      emit(events, 'acquired', request, () => ({
        waitedMs: wait.elapsed,
        ...(wait.handOffs && { handOffs: wait.handOffs }),
      }));
    return granted;
  } catch (error) {
    emit(events, 'failed', request, () => ({ waitedMs: wait.elapsed, error }));
    throw error;
  } finally {
    leaveCircle?.();
    if (isCounted) leaveQueue(context, request);
    wait.end();
  }
}

/** Reports it if the acquire waits in a circle; the returned function ends that. */
function watchForDeadlock(
  context: AcquireContext,
  request: AcquireRequest,
  wait: WaitScope,
  around: readonly LeaseAround[],
): (() => void) | undefined {
  const { client, clock, events, waiters, deadlocks } = context;
  const { key, keys = [key], recipe, options } = request;
  if (recipe === 'semaphore' || isElection(recipe)) return undefined;
  const { method } = options;
  let isReported = false; // a circle within one client is seen here, and later among the waits of all
  const found = (error: LockDeadlockError) => {
    if (isReported) return;
    isReported = true;
    process.emitWarning(`Deadlock: ${error.message}`, { code: error.code });
    emit(events, 'deadlock', request, () => ({ error }));
    if (waiters.onDeadlock === 'reject') wait.cancel(error);
  };
  const inside = { client, scope: context, keys, method, around, clock, found };
  const leave = Deadlocks.shared.enter(inside);
  const leavePeers = deadlocks?.enter(inside);
  return () => {
    leave();
    leavePeers?.();
  };
}

function emit<E extends 'contended' | 'acquired' | 'failed' | 'deadlock'>(
  events: LockEventEmitter,
  event: E,
  { key, keys = [key], recipe, options: { method } }: AcquireRequest,
  detailsOf: () => Omit<LockEvents[E], keyof LockSubject>,
): void {
  if (!events.isHeard(event)) return;
  const details = detailsOf();
  for (const each of keys)
    events.emit(event, Object.assign(lockSubject(each, recipe, method), details) as LockEvents[E]);
}
