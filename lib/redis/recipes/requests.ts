import { randomBytes } from 'node:crypto';
import type { RedisArgument } from '../connection/redis-client.js';
import type { LockName } from '../connection/lock-name.js';
import { isPassing, lockErrorOf } from '../connection/redis-error.js';
import type { Script } from '../connection/script.js';
import type { RecipeContext } from './recipe-context.js';

/** How long the server remembers the answer to a request, in ms: ioredis sends it again when a connection breaks before. */
export const ANSWER_LIFE = 60_000;

/** Delay before a request that failed is sent again, in ms. */
const RETRY_AFTER = 200;

/** Runs scripts that must not take effect twice: each request has a key that remembers its answer. */
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
   * Runs the script with the key of a new request behind `keys`; where the connection fails, again for as long as the client's
   * `connectTimeout`, so that nothing is lost that has no lease.
   *
   * Rejects with `LockKeyError` when there is something else under the key, with `LockConnectionError` when the server refuses,
   * and as ioredis does.
   */
  async run(script: Script, keys: readonly string[], args: readonly RedisArgument[]) {
    const { clock, connection, connectTimeout } = this.context;
    const request = this.next();
    const endsAt = clock.now() + Math.min(connectTimeout, ANSWER_LIFE / 2);
    for (;;)
      try {
        const answer = await connection.run(script, [...keys, request], args);
        this.forget(request);
        return Number(answer);
      } catch (error) {
        const isLasting = !isPassing(error) || connection.hasEnded;
        if (isLasting || clock.now() >= endsAt) throw lockErrorOf(error, this.about);
        await new Promise<void>((resolve) => clock.setTimer(resolve, RETRY_AFTER));
      }
  }

  /** Runs a script that may take effect twice. Rejects as `run`. */
  ask(script: Script, keys: readonly string[], args: readonly RedisArgument[]): Promise<unknown> {
    return this.context.connection.run(script, keys, args).catch((error) => {
      throw lockErrorOf(error, this.about);
    });
  }

  /** Has the server forget an answer that has come, in the background; where that fails it ends by itself. */
  forget(request: string): void {
    const { connection, releases } = this.context;
    releases.follow(connection.read('del', request));
  }
}
