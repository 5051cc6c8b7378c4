import { randomBytes } from 'node:crypto';
import { LockConnectionError } from '../../core/errors/index.js';
import { Copies } from '../connection/copies.js';
import type { RedisArgument } from '../connection/redis-client.js';
import type { LockName } from '../connection/lock-name.js';
import { lockErrorOf } from '../connection/redis-error.js';
import type { Script } from '../connection/script.js';
import { Deadline, sendUntilAnswered } from '../connection/send-until-answered.js';
import type { RecipeContext } from './recipe-context.js';

/**
 * How long the server remembers the answer to a request of which a copy may follow, in ms: longer than the kernel goes on
 * sending what was written to a connection that was given up (924 s with Linux' `tcp_retries2` of 15).
 */
export const ANSWER_LIFE = 960_000;

/** Delay before a request that failed is sent again, in ms. */
const RETRY_AFTER = 200;

/**
 * Runs scripts that must not take effect twice: each request has a key that remembers its answer.
 *
 * Invariant: a key is deleted only when no copy of its request can follow; else it lives for `ANSWER_LIFE`.
 */
export class Requests {
  constructor(
    private readonly context: RecipeContext,
    private readonly name: LockName,
    private readonly about: { readonly key: string; readonly client: string },
  ) {}

  /** The name of a new one. */
  next(): string {
    return this.name.request(randomBytes(8).toString('hex'));
  }

  /**
   * Runs the script with the key of a new request behind `keys`, and the channel and what it needs to remember before `args`;
   * where the connection fails, again for as long as the client's `connectTimeout`, so that nothing is lost that has no lease.
   *
   * Rejects with `LockKeyError` when there is something else under the key, with `LockConnectionError` when the server refuses,
   * or when there was no answer in time: then it is not known whether it was done, or will be yet.
   */
  async run(
    script: Script,
    keys: readonly string[],
    args: readonly RedisArgument[],
  ): Promise<number> {
    const { clock, connection, connectTimeout } = this.context;
    const request = this.next();
    const copies = new Copies(connection);
    const send = () => {
      copies.sent();
      return connection.run(script, [...keys, request], args);
    };
    let cause: unknown;
    const over = () => this.#unknownOutcome(cause);
    const bound = new Deadline(clock, clock.now() + connectTimeout, over);
    const failed = (error: unknown) => (cause = error);
    try {
      const answer = await sendUntilAnswered(connection, send, bound, () => RETRY_AFTER, failed);
      copies.answered();
      if (!copies.mayFollow) this.forget(request);
      return Number(answer);
    } catch (error) {
      throw lockErrorOf(error, this.about);
    }
  }

  /** Runs a script that may take effect twice. Rejects as `run`. */
  ask(script: Script, keys: readonly string[], args: readonly RedisArgument[]): Promise<unknown> {
    return this.context.connection.run(script, keys, args).catch((error) => {
      throw lockErrorOf(error, this.about);
    });
  }

  /** Has the server forget an answer of which no copy can follow, in the background; where that fails it ends by itself. */
  forget(request: string): void {
    const { connection, releases } = this.context;
    releases.follow(connection.read('del', request));
  }

  #unknownOutcome(cause: unknown): LockConnectionError {
    const { key, client } = this.about;
    return new LockConnectionError(
      `Redis has not answered for "${key}" of client "${client}" within ${this.context.connectTimeout} ms: the outcome is unknown, it may have been done, or be done yet. Look at the number there is before it is done again.`,
      { ...this.about, cause },
    );
  }
}
