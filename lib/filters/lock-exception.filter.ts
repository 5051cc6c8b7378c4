import { Catch, Logger, Optional, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { LockOptionsError, type LockError } from '../core/index.js';
import { answerGraphQL } from './answer-graphql.js';
import { answerHttp } from './answer-http.js';
import { ANSWERED_ERRORS } from './answered-errors.js';
import { lockErrorAnswer } from './lock-error-answer.js';
import type { LockExceptionFilterOptions } from './lock-exception-filter-options.interface.js';

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
