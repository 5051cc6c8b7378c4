import { HttpStatus } from '@nestjs/common';
import {
  ElectionClosedError,
  LockAbortedError,
  LockClientClosedError,
  LockConnectionError,
  LockDeadlockError,
  type LockError,
  type LockErrorCode,
  LockLostError,
  LockNotHeldError,
  LockQueueFullError,
  LockTimeoutError,
  LockUpgradeError,
} from '../core/index.js';

/** Kinds of answers: status, its name, and whether a plain retry of the call may succeed later. */
const LOCKED = { status: 423, name: 'Locked', isPassing: true };
const CONFLICT = { status: HttpStatus.CONFLICT, name: 'Conflict', isPassing: false };
const UNAVAILABLE = {
  status: HttpStatus.SERVICE_UNAVAILABLE,
  name: 'Service Unavailable',
  isPassing: true,
};

/** The errors that are answered to the caller, with their messages. All others are programming errors. */
export const ANSWERED_ERRORS = [
  { type: LockTimeoutError, ...LOCKED, message: 'The resource is locked. Try again later.' },
  {
    type: LockAbortedError,
    ...LOCKED,
    message: 'The wait for the locked resource was ended. Try again later.',
  },
  {
    type: LockDeadlockError,
    ...LOCKED,
    message: 'The resource is locked. Try again later.',
  },
  {
    type: LockLostError,
    ...CONFLICT,
    message:
      'The lock of the resource was lost meanwhile. Check what was done before you try again.',
  },
  {
    type: LockNotHeldError,
    ...CONFLICT,
    message: 'The lock of the resource was already released.',
  },
  { type: LockUpgradeError, ...CONFLICT, message: 'This call is already reading the resource.' },
  {
    type: LockConnectionError,
    ...UNAVAILABLE,
    message: 'Locks are not available. Try again later.',
  },
  {
    type: LockQueueFullError,
    ...UNAVAILABLE,
    message: 'Too many calls are waiting. Try again later.',
  },
  {
    type: LockClientClosedError,
    ...UNAVAILABLE,
    message: 'The service is shutting down. Try again later.',
  },
  {
    type: ElectionClosedError,
    ...UNAVAILABLE,
    message: 'The service is shutting down. Try again later.',
  },
] as const;

/** Options of `LockExceptionFilter`. */
export interface LockExceptionFilterOptions {
  /**
   * Status of the answer when the lock was not granted: to `LockTimeoutError` and `LockAbortedError`. A `Retry-After` is sent
   * with both.
   *
   * @default 423
   */
  readonly lockedStatus?: 423 | 409 | undefined;
  /**
   * Value of `Retry-After` in seconds; a whole number from 1 on.
   *
   * @default for a lock that was not granted in time the `wait` of the call, rounded up; otherwise 5
   */
  readonly retryAfter?: number | undefined;
  /**
   * Whether to send the message of the error instead of a general one. It names the key, the client, the method, possibly
   * servers, and the holder with its method, host and process: these, or an id in a key, may be what the caller must not see.
   *
   * @default false
   */
  readonly exposeMessage?: boolean | undefined;
}

/** The answer that a caller gets instead of a lock error. */
export interface LockErrorAnswer {
  readonly status: number;
  /** Value of `Retry-After` in seconds. */
  readonly retryAfter?: number;
  readonly body: {
    readonly statusCode: number;
    readonly message: string;
    readonly error: string;
    readonly code: LockErrorCode;
  };
}

/** Value of `Retry-After` in seconds when the time until a retry can succeed is unknown. */
const RETRY_AFTER = 5;

/** The answer to one of `ANSWERED_ERRORS`. */
export function lockErrorAnswer(
  error: LockError,
  { retryAfter, exposeMessage = false, lockedStatus = 423 }: LockExceptionFilterOptions,
): LockErrorAnswer {
  const answer = ANSWERED_ERRORS.find(({ type }) => error instanceof type)!;
  const { isPassing } = answer;
  const isConflict = answer.status === 423 && lockedStatus === 409;
  const { status, name } = isConflict ? CONFLICT : answer;
  const message = exposeMessage ? error.message : answer.message;
  return {
    status,
    retryAfter: isPassing ? (retryAfter ?? secondsFor(error)) : undefined,
    body: { statusCode: status, message, error: name, code: error.code },
  };
}

/** Seconds until a retry: after a timeout as long as the call has waited, otherwise `RETRY_AFTER`. */
function secondsFor(error: LockError): number {
  if (!(error instanceof LockTimeoutError)) return RETRY_AFTER;
  return Math.max(1, Math.ceil(error.waitedMs / 1_000));
}
