import { LockTimeoutError, type LockError, type LockErrorCode } from '../core/index.js';
import { ANSWERED_ERRORS } from './answered-errors.js';
import type { LockExceptionFilterOptions } from './lock-exception-filter-options.interface.js';

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
