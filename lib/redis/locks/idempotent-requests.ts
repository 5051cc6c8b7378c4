import { LockConnectionError, LockError } from '../../core/errors/index.js';
import type { RedisArgument } from '../connection/ioredis.js';
import type { LockName } from '../connection/lock-name.js';
import { isRefusedLogin, lockErrorOf, reasonOf } from '../connection/redis-error.js';
import { Deadline, retryUntilAnswered } from '../connection/retry-until-answered.js';
import type { Script } from '../connection/script.js';
import type { RecipeContext } from '../recipe-context.js';
import type { RequestNumbers } from '../connection/request-numbers.js';

/** Delay before a failed request is sent again, in ms. */
const RETRY_AFTER = 200;
/** Runs scripts that must not take effect twice, even if a request arrives again or late. */
export class IdempotentRequests {
  constructor(
    private readonly context: RecipeContext,
    private readonly name: LockName,
    private readonly about: { readonly key: string; readonly client: string },
  ) {}

  /** Request numbers of this name. Must be read anew for each request, as idle ones may be dropped. */
  get numbers(): RequestNumbers {
    return this.context.requests.of(this.name);
  }

  /**
   * Runs the script with the record of requests after `keys`, and the terms of a new request before `args`. If the connection
   * fails, it retries for the client's `connectTimeout`, so that nothing is lost that has no lease.
   *
   * Rejects with `LockKeyError` if the key holds something else, and with `LockConnectionError` if the server rejects the
   * request, does not answer in time, or the connection has ended: then it is unknown whether the request was carried out, or
   * will be.
   */
  async run(
    script: Script,
    keys: readonly string[],
    args: readonly RedisArgument[],
  ): Promise<number> {
    const { clock, connection, connectTimeout } = this.context;
    const { numbers } = this;
    const number = numbers.next();
    const send = () =>
      connection.run(script, [...keys, numbers.record], [...numbers.terms(number), ...args]);
    let cause: unknown;
    const over = () => this.#unknownOutcome(cause ?? connection.trouble);
    const failed = (error: unknown) => (cause = error);
    const bound = new Deadline(clock, clock.now() + connectTimeout, over);
    try {
      return Number(await retryUntilAnswered(connection, send, bound, () => RETRY_AFTER, failed));
    } catch (error) {
      throw lockErrorOf(error, this.about, connection);
    } finally {
      numbers.settle(number);
    }
  }

  /** Runs a script that may take effect twice. Rejects as `answerInTime` does. */
  ask(script: Script, keys: readonly string[], args: readonly RedisArgument[]): Promise<unknown> {
    return answerInTime(this.context, this.about, this.context.connection.run(script, keys, args));
  }

  #unknownOutcome(cause: unknown): LockConnectionError {
    const { key, client } = this.about;
    return new LockConnectionError(
      `Redis did not answer a request for "${key}" of client "${client}" within ${this.context.connectTimeout} ms: the outcome is unknown, as the request may have been carried out, or may still be. Check the state on the server before you repeat it.`,
      { ...this.about, cause },
    );
  }
}

/**
 * Settles as the request about a lock does. A request waits for a connection without bound, so this rejects with
 * `LockConnectionError` if there is no answer within the client's `connectTimeout`, or there will be none; with `LockKeyError` if
 * the key holds something else.
 */
export async function answerInTime<T>(
  { clock, connection, connectTimeout }: RecipeContext,
  about: { readonly key: string; readonly client?: string | undefined },
  request: Promise<T>,
): Promise<T> {
  const unanswered = (when: string, cause: unknown, advice: string) =>
    new LockConnectionError(
      `Redis did not answer a request about "${about.key}" of client "${about.client}" ${when}. ${advice}.`,
      { ...about, cause },
    );
  const over = () =>
    unanswered(
      `within ${connectTimeout} ms`,
      connection.trouble,
      'Check that the server runs, or raise `connectTimeout`',
    );
  try {
    return await new Deadline(clock, clock.now() + connectTimeout, over).until(request);
  } catch (error) {
    const settled = lockErrorOf(error, about, connection);
    if (settled instanceof LockError) throw settled;
    const why = reasonOf(error);
    const advice = isRefusedLogin(why)
      ? 'Check the user and the password'
      : 'Check that the server runs';
    throw unanswered(`(${why})`, error, advice);
  }
}
