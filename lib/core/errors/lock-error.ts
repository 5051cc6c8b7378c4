import type { LockErrorCode } from './lock-error-code.js';

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
