import type { LockHolder } from '../lock-holder.js';
import { shownValue } from './shown-value.js';

/** The `code` of each error class. */
export type LockErrorCode =
  | 'LOCK_ABORTED'
  | 'LOCK_BARRIER_STATE'
  | 'LOCK_CLIENT_CLOSED'
  | 'LOCK_CLIENT_DUPLICATE'
  | 'LOCK_CLIENT_UNKNOWN'
  | 'LOCK_CONNECTION'
  | 'LOCK_COUNTER_OVERFLOW'
  | 'LOCK_DEADLOCK'
  | 'LOCK_DECORATOR_TARGET'
  | 'LOCK_ELECTION_CLOSED'
  | 'LOCK_INTERCEPTOR_MISSING'
  | 'LOCK_KEY'
  | 'LOCK_LOST'
  | 'LOCK_NOT_HELD'
  | 'LOCK_OPTIONS'
  | 'LOCK_QUEUE_FULL'
  | 'LOCK_TIMEOUT'
  | 'LOCK_UPGRADE'
  | 'LOCK_VALUE_CLOSED';

/** Written out, as minifiers shorten the names of classes. */
const NAMES: Record<LockErrorCode, string> = {
  LOCK_ABORTED: 'LockAbortedError',
  LOCK_BARRIER_STATE: 'BarrierStateError',
  LOCK_CLIENT_CLOSED: 'LockClientClosedError',
  LOCK_CLIENT_DUPLICATE: 'LockClientDuplicateError',
  LOCK_CLIENT_UNKNOWN: 'LockClientUnknownError',
  LOCK_CONNECTION: 'LockConnectionError',
  LOCK_COUNTER_OVERFLOW: 'CounterOverflowError',
  LOCK_DEADLOCK: 'LockDeadlockError',
  LOCK_DECORATOR_TARGET: 'LockDecoratorTargetError',
  LOCK_ELECTION_CLOSED: 'ElectionClosedError',
  LOCK_INTERCEPTOR_MISSING: 'LockInterceptorMissingError',
  LOCK_KEY: 'LockKeyError',
  LOCK_LOST: 'LockLostError',
  LOCK_NOT_HELD: 'LockNotHeldError',
  LOCK_OPTIONS: 'LockOptionsError',
  LOCK_QUEUE_FULL: 'LockQueueFullError',
  LOCK_TIMEOUT: 'LockTimeoutError',
  LOCK_UPGRADE: 'LockUpgradeError',
  LOCK_VALUE_CLOSED: 'SharedValueClosedError',
};

/** Brand shared by every copy of this package in the process (ESM and CJS, duplicates in node_modules). */
const BRAND = Symbol.for('nestjs-interlock:error');

/** Where an error happened, as far as known. */
export interface LockErrorContext {
  /** Key of the lock, as the user gave it. */
  readonly key?: string | undefined;
  /** Name of the lock client. */
  readonly client?: string | undefined;
  /** The underlying error or reason. */
  readonly cause?: unknown;
}

/**
 * Base class of every error of this library. The user's own errors are never wrapped in one.
 *
 * `instanceof` works across duplicate copies of the package: it checks a global brand instead of the prototype.
 */
export abstract class LockError extends Error {
  /** The code of a concrete class; each class overrides it. */
  static readonly code?: LockErrorCode;

  readonly code: LockErrorCode;
  readonly key?: string;
  readonly client?: string;

  constructor(code: LockErrorCode, message: string, context: LockErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    const isOurs = Object.hasOwn(new.target, 'code');
    this.name = isOurs ? NAMES[code] : new.target.name;
    this.code = code;
    this.key = context.key;
    this.client = context.client;
    Object.defineProperty(this, BRAND, { value: code });
  }

  /** Checks the brand, so that errors of another copy of this package in the process match too. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    const brand = (value as { [BRAND]?: unknown } | null | undefined)?.[BRAND];
    if (brand === undefined) return false;
    if (this === (LockError as unknown)) return true;
    if (Object.hasOwn(this, 'code')) return brand === this.code;
    return Function.prototype[Symbol.hasInstance].call(this, value); // a subclass of the user's
  }
}

/** The name of the lock in every message: `lock "orders" of client "default"`. */
export function contextText({ key, client }: LockErrorContext): string {
  const lock = key === undefined ? 'the lock' : `lock ${JSON.stringify(key)}`;
  return client === undefined ? lock : `${lock} of client "${client}"`;
}

/** The caller's `AbortSignal` ended the wait; `cause` is the signal's reason. */
export class LockAbortedError extends LockError {
  static override readonly code = 'LOCK_ABORTED';

  constructor(context: LockErrorContext = {}) {
    super(
      'LOCK_ABORTED',
      `The wait for ${contextText(context)} was aborted by its signal. Nothing was acquired; see \`cause\` for the reason.`,
      context,
    );
  }
}

/** An operation that needs a live lease was called on a released one. */
export class LockNotHeldError extends LockError {
  static override readonly code = 'LOCK_NOT_HELD';

  constructor(context: LockErrorContext = {}) {
    super(
      'LOCK_NOT_HELD',
      `${contextText(context)} was already released by this lease. Do the work before \`release()\`, or acquire again.`,
      context,
    );
  }
}

/** The write lock was requested inside the held read lock of the same lock, where it would wait for itself. */
export class LockUpgradeError extends LockError {
  static override readonly code = 'LOCK_UPGRADE';

  constructor(context: LockErrorContext = {}) {
    super(
      'LOCK_UPGRADE',
      `The write lock of ${contextText(context)} was requested while this call holds its read lock, so it would wait for itself. Release the read lock first, or acquire the write lock before it: reading inside the write lock is allowed.`,
      context,
    );
  }
}

/**
 * The wait ran out before the lock was granted. Nothing of the attempt is left in the queue. Its `cause` is set if the
 * servers did not answer the last request, or rejected it; for a multi-lock it is the time-out of the lock that it waited for.
 */
export class LockTimeoutError extends LockError {
  static override readonly code = 'LOCK_TIMEOUT';

  /** The wait that the caller allowed, in milliseconds. */
  readonly waitedMs: number;
  /** The `method` of the acquire; of a decorated call its class and method. */
  readonly method?: string;
  /**
   * The holder that the wait last saw, or one of several readers; for a multi-lock that of the lock that it waited for. It may
   * have released the lock since. `undefined` if the wait saw none: no request is sent for it. That is so for a lock of
   * several permits, for an attempt that does not wait, and on ZooKeeper if the holder is of another client and other waiters
   * are in between.
   */
  readonly holder?: LockHolder;

  constructor(
    waitedMs: number,
    context: LockErrorContext & {
      readonly method?: string | undefined;
      readonly holder?: LockHolder | undefined;
    } = {},
  ) {
    const { cause, method } = context;
    const to = method === undefined ? '' : ` to ${method}`;
    // The time-out of one of several locks, for which the same holds as if it were the only one.
    const part = cause instanceof LockTimeoutError && cause.cause === undefined ? cause : undefined;
    const { holder = part?.holder } = context;
    const reason = cause instanceof Error ? ` (${cause.message})` : '';
    const awaited = part && part.key !== context.key ? ` (it waited for ${contextText(part)})` : '';
    const why = part ? awaited : reason;
    const advice =
      cause === undefined || part
        ? 'Retry later, raise `wait`, or hold the lock for a shorter time.'
        : 'The last request was not answered or was rejected. Check the servers.';
    super(
      'LOCK_TIMEOUT',
      `${contextText(context)} was not granted${to} within ${waitedMs} ms${why}. ${holderText(holder)}${advice}`,
      context,
    );
    this.waitedMs = waitedMs;
    this.method = method;
    this.holder = holder;
  }
}

/** A sentence about the holder, or nothing. What a server says of it is quoted and cut short. */
function holderText(holder: LockHolder | undefined): string {
  if (holder === undefined) return '';
  const { id, method, host, pid, data, since } = holder;
  const where = [
    host && ` on host ${shownValue(host)}`,
    pid && ` (process ${pid})`,
    data && ` with the data ${shownValue(data)}`,
    since && ` since ${since.toISOString()}`,
  ];
  return `It was last seen held by ${shownValue(method ?? id)}${where.filter(Boolean).join('')}. `;
}
