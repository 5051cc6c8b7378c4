import { HttpStatus } from '@nestjs/common';
import {
  ElectionClosedError,
  LockAbortedError,
  LockClientClosedError,
  LockConnectionError,
  type LockError,
  type LockErrorCode,
  LockLostError,
  LockNotHeldError,
  LockTimeoutError,
  LockUpgradeError,
} from '../core/index.js';

/** Kinds of answers: status, its name, and whether the same call may succeed later without more ado. */
const LOCKED = { status: 423, name: 'Locked', isPassing: true };
const CONFLICT = { status: HttpStatus.CONFLICT, name: 'Conflict', isPassing: false };
const UNAVAILABLE = {
  status: HttpStatus.SERVICE_UNAVAILABLE,
  name: 'Service Unavailable',
  isPassing: true,
};

/** The errors that a caller has an answer to, with what the caller is told. The others are mistakes in the program. */
export const ANSWERED_ERRORS = [
  { type: LockTimeoutError, ...LOCKED, message: 'The resource is locked. Try again later.' },
  {
    type: LockAbortedError,
    ...LOCKED,
    message: 'The wait for the locked resource was ended. Try again later.',
  },
  {
    type: LockLostError,
    ...CONFLICT,
    message: 'The lock of the resource was lost meanwhile. See what was done before you try again.',
  },
  {
    type: LockNotHeldError,
    ...CONFLICT,
    message: 'The lock of the resource had been given back before.',
  },
  { type: LockUpgradeError, ...CONFLICT, message: 'The resource is being read by this very call.' },
  {
    type: LockConnectionError,
    ...UNAVAILABLE,
    message: 'Locks are not available. Try again later.',
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
   * What `Retry-After` says, in seconds; a whole number from 1 on.
   *
   * @default for a lock that was not granted in time the `wait` of the call, rounded up; for servers that are away 5
   */
  readonly retryAfter?: number;
  /**
   * Is the message of the error sent, instead of a general one? It names key and client, perhaps servers too: a key may hold
   * an id that the caller is not to see.
   *
   * @default false
   */
  readonly exposeMessage?: boolean;
}

/** What a caller is told instead of an error of a lock. */
export interface LockErrorAnswer {
  readonly status: number;
  /** In seconds. */
  readonly retryAfter?: number;
  readonly body: {
    readonly statusCode: number;
    readonly message: string;
    readonly error: string;
    readonly code: LockErrorCode;
  };
}

/** Seconds after which somebody asks again where it is not known how long it takes. */
const RETRY_AFTER = 5;

/** The answer to one of `ANSWERED_ERRORS`. */
export function lockErrorAnswer(
  error: LockError,
  { retryAfter, exposeMessage = false }: LockExceptionFilterOptions,
): LockErrorAnswer {
  const answer = ANSWERED_ERRORS.find(({ type }) => error instanceof type)!;
  const { status, name, isPassing } = answer;
  const message = exposeMessage ? error.message : answer.message;
  return {
    status,
    retryAfter: isPassing ? (retryAfter ?? secondsFor(error)) : undefined,
    body: { statusCode: status, message, error: name, code: error.code },
  };
}

/** Whoever had waited for so long gives the holder as long again. */
function secondsFor(error: LockError): number {
  if (!(error instanceof LockTimeoutError)) return RETRY_AFTER;
  return Math.max(1, Math.ceil(error.waitedMs / 1_000));
}
