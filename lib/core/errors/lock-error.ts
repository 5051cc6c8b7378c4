import { inspect } from 'node:util';

/** The `code` of each error class. */
export type LockErrorCode =
  | 'LOCK_ABORTED'
  | 'LOCK_BARRIER_STATE'
  | 'LOCK_CLIENT_CLOSED'
  | 'LOCK_CLIENT_DUPLICATE'
  | 'LOCK_CLIENT_UNKNOWN'
  | 'LOCK_CONNECTION'
  | 'LOCK_COUNTER_OVERFLOW'
  | 'LOCK_DECORATOR_TARGET'
  | 'LOCK_ELECTION_CLOSED'
  | 'LOCK_INTERCEPTOR_MISSING'
  | 'LOCK_KEY'
  | 'LOCK_LOST'
  | 'LOCK_NOT_HELD'
  | 'LOCK_OPTIONS'
  | 'LOCK_TIMEOUT'
  | 'LOCK_UPGRADE'
  | 'LOCK_VALUE_CLOSED';

const LONGEST = 80;

/** Text of an unexpected value of any type for a message: on one line, cut short. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, LONGEST));
  return inspect(value, { depth: 0, breakLength: Infinity }).slice(0, LONGEST);
}

/** Brand shared by every copy of this package in the process (ESM and CJS, duplicates in node_modules). */
const BRAND = Symbol.for('nestjs-interlock:error');

/** Where an error happened, as far as known. */
export interface LockErrorContext {
  /** Key of the lock, as the user gave it. */
  readonly key?: string;
  /** Name of the lock client. */
  readonly client?: string;
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
    this.name = new.target.name;
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
