import { type ArgumentsHost, Catch, type ExceptionFilter, Logger, Optional } from '@nestjs/common';
import { type LockError, LockOptionsError } from '../core/index.js';
import {
  ANSWERED_ERRORS,
  lockErrorAnswer,
  type LockErrorAnswer,
  type LockExceptionFilterOptions,
} from './lock-error-answer.js';

/** Common part of the responses of Express and Fastify; `raw` is Node's response, which an Express response is itself. */
interface HttpResponse extends NodeResponse {
  readonly raw?: NodeResponse;
  status(code: number): HttpResponse;
  header(name: string, value: string): HttpResponse;
  send(body: unknown): unknown;
}

interface NodeResponse {
  readonly headersSent: boolean;
  end(): void;
}

/** Sends the answer; a response that has already begun can only be ended. */
function answerHttp(response: HttpResponse, { status, retryAfter, body }: LockErrorAnswer): void {
  const raw = response.raw ?? response;
  if (raw.headersSent) return raw.end();
  if (retryAfter !== undefined) response.header('Retry-After', `${retryAfter}`);
  response.header('Content-Type', 'application/json; charset=utf-8'); // the route may have set that of its result
  response.status(status).send(body);
}

/**
 * Answers requests that failed because of a lock, over HTTP (Express and Fastify) and GraphQL.
 *
 * - `LockTimeoutError`, `LockAbortedError`: 423 Locked, or 409 with `lockedStatus`, with `Retry-After`.
 * - `LockLostError`, `LockNotHeldError`, `LockUpgradeError`: 409 Conflict.
 * - `LockConnectionError`, `LockQueueFullError`, `LockClientClosedError`, `ElectionClosedError`: 503 Service Unavailable, with
 *   `Retry-After`.
 *
 * Other lock errors are programming errors and left to Nest: 500. In microservices it leaves all errors to Nest. It is not for
 * gateways, which global filters do not cover.
 *
 * @example
 * ```ts
 * providers: [{ provide: APP_FILTER, useClass: LockExceptionFilter }]
 * ```
 */
@Catch(...ANSWERED_ERRORS.map(({ type }) => type))
export class LockExceptionFilter implements ExceptionFilter<LockError> {
  readonly #logger = new Logger(LockExceptionFilter.name);
  readonly #options: LockExceptionFilterOptions;

  /** @throws LockOptionsError */
  constructor(@Optional() options: LockExceptionFilterOptions = {}) {
    const { retryAfter, lockedStatus } = options;
    if (lockedStatus !== undefined && lockedStatus !== 423 && lockedStatus !== 409)
      throw new LockOptionsError('lockedStatus', lockedStatus, '423 or 409');
    if (retryAfter !== undefined && !(Number.isInteger(retryAfter) && retryAfter > 0))
      throw new LockOptionsError('retryAfter', retryAfter, 'whole seconds from 1 on');
    this.#options = options;
  }

  /** In contexts that it does not answer it returns nothing, so that Nest handles the error as without it. */
  catch(error: LockError, host: ArgumentsHost): void {
    const context = host.getType<string>();
    if (context === 'ws')
      return this.#logger.error(
        `${error.message} The client of the gateway gets no answer. Remove LockExceptionFilter from the gateway, then Nest answers.`,
      );
    if (context !== 'http' && context !== 'graphql') return;
    const answer = lockErrorAnswer(error, this.#options);
    this.#logger[answer.status === 409 && !answer.retryAfter ? 'warn' : 'debug'](error.message);
    if (context === 'http') answerHttp(host.switchToHttp().getResponse(), answer);
    else answerGraphQL(error, answer);
  }
}

/**
 * Throws the error that GraphQL servers turn into the answer: they copy `extensions`, and Apollo reads status and headers from
 * `http`.
 */
function answerGraphQL(cause: unknown, { status, retryAfter, body }: LockErrorAnswer): never {
  const headers = new Map<string, string>();
  if (retryAfter !== undefined) headers.set('retry-after', `${retryAfter}`);
  const extensions = { code: body.code, statusCode: status, retryAfter, http: { status, headers } };
  throw Object.assign(new Error(body.message, { cause }), { extensions });
}
