import { type ArgumentsHost, Catch, type ExceptionFilter, Logger, Optional } from '@nestjs/common';
import { type LockError, LockOptionsError } from '../core/index.js';
import {
  ANSWERED_ERRORS,
  lockErrorAnswer,
  type LockErrorAnswer,
  type LockExceptionFilterOptions,
} from './lock-error-answer.js';

/** What the responses of Express and Fastify have in common; `raw` is Node's, which that of Express is itself. */
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

/** Sends the answer; a response that has begun already can only be ended. */
export function answerHttp(
  response: HttpResponse,
  { status, retryAfter, body }: LockErrorAnswer,
): void {
  const raw = response.raw ?? response;
  if (raw.headersSent) return raw.end();
  if (retryAfter !== undefined) response.header('Retry-After', `${retryAfter}`);
  response.status(status).send(body);
}

/**
 * Answers requests that failed of a lock, over HTTP (Express and Fastify) and GraphQL.
 *
 * - `LockTimeoutError`, `LockAbortedError`: 423 Locked, with `Retry-After`.
 * - `LockLostError`, `LockNotHeldError`, `LockUpgradeError`: 409 Conflict.
 * - `LockConnectionError`, `LockClientClosedError`: 503 Service Unavailable, with `Retry-After`.
 *
 * Other errors of locks are mistakes in the program, and left to Nest: 500. In microservices it leaves all errors to Nest.
 * It is not for gateways, where a filter that is global does not come.
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
    const { retryAfter } = options;
    if (retryAfter !== undefined && !(Number.isInteger(retryAfter) && retryAfter > 0))
      throw new LockOptionsError('retryAfter', retryAfter, 'whole seconds from 1 on');
    this.#options = options;
  }

  /** Where it gives no answer it returns nothing, which tells Nest to do as without it. */
  catch(error: LockError, host: ArgumentsHost): void {
    const context = host.getType<string>();
    if (context === 'ws')
      return this.#logger.error(
        `${error.message} The client of the gateway is told nothing: take LockExceptionFilter off the gateway, then Nest does it.`,
      );
    if (context !== 'http' && context !== 'graphql') return;
    const answer = lockErrorAnswer(error, this.#options);
    this.#logger[answer.status === 409 ? 'warn' : 'debug'](error.message);
    if (context === 'http') answerHttp(host.switchToHttp().getResponse(), answer);
    else answerGraphQL(error, answer);
  }
}

/** Throws what GraphQL servers make the answer of: they take over `extensions`, and Apollo from `http` status and headers. */
export function answerGraphQL(
  cause: unknown,
  { status, retryAfter, body }: LockErrorAnswer,
): never {
  const headers = new Map<string, string>();
  if (retryAfter !== undefined) headers.set('retry-after', `${retryAfter}`);
  const extensions = { code: body.code, statusCode: status, retryAfter, http: { status, headers } };
  throw Object.assign(new Error(body.message, { cause }), { extensions });
}
