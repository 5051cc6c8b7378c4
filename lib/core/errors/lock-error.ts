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

/** How a message shows a value that is not what was asked for: on one line, cut short, whatever it is. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, LONGEST));
  return inspect(value, { depth: 0, breakLength: Infinity }).slice(0, LONGEST);
}

/** Brand shared by every copy of this package in the process (ESM and CJS, duplicates in node_modules). */
const BRAND = Symbol.for('nestjs-interlock:error');

/** Where an error happened: the parts that are known. */
export interface LockErrorContext {
  /** Key of the lock, as the user gave it. */
  readonly key?: string;
  /** Name of the lock client. */
  readonly client?: string;
  /** What led to it. */
  readonly cause?: unknown;
}

/**
 * Base of every error this library makes. The user's own errors are never wrapped in one.
 *
 * `instanceof` works across duplicate copies of the package: it looks at a global brand, not at the prototype.
 */
export abstract class LockError extends Error {
  /** The code of a concrete class; each overrides it. */
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

  /** Goes by a brand, so that errors of another copy of this package in the process are known too. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    const brand = (value as { [BRAND]?: unknown } | null | undefined)?.[BRAND];
    if (brand === undefined) return false;
    if (this === (LockError as unknown)) return true;
    if (Object.hasOwn(this, 'code')) return brand === this.code;
    return Function.prototype[Symbol.hasInstance].call(this, value); // a subclass of the user's
  }
}

/** `lock "orders" of client "default"`: how every message names the lock it is about. */
export function contextText({ key, client }: LockErrorContext): string {
  const lock = key === undefined ? 'the lock' : `lock ${JSON.stringify(key)}`;
  return client === undefined ? lock : `${lock} of client "${client}"`;
}
