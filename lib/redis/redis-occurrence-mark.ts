import { randomUUID } from 'node:crypto';
import { LockConnectionError } from '../core/errors/index.js';
import { runWait } from '../core/internal/acquire.js';
import { validateAcquireOptions } from '../core/internal/validation.js';
import {
  FARTHEST_AHEAD,
  type OccurrenceMark,
  type OccurrenceMarkOptions,
  tooFarAhead,
} from '../core/occurrence-mark.js';
import type { LockName } from './connection/lock-name.js';
import { lockErrorOf } from './connection/redis-error.js';
import { retryUntilAnswered } from './connection/retry-until-answered.js';
import type { RecipeContext } from './recipe-context.js';
import { occurrenceRaise } from './scripts/index.js';

/** How long a mark is kept after it was last raised, in ms: 30 days. */
const LIFE = 2_592_000_000;
/** Delay before an unanswered request is sent again, in ms. */
const RETRY_AFTER = 200;

/** The mark of a job, in a hash beside its lock. */
export class RedisOccurrenceMark implements OccurrenceMark {
  constructor(
    private readonly context: RecipeContext,
    private readonly name: LockName,
    readonly key: string,
  ) {}

  async isReached(occurrence: number, options: OccurrenceMarkOptions = {}): Promise<boolean> {
    return !(await this.request(occurrence, '', options));
  }

  raise(occurrence: number, options: OccurrenceMarkOptions = {}): Promise<boolean> {
    return this.request(occurrence, randomUUID(), options);
  }

  /**
   * Raises the mark, and resolves to true also if that request has raised it already; or, with an empty `id`, resolves to
   * whether it can be raised.
   */
  request(occurrence: number, id: string, options: OccurrenceMarkOptions): Promise<boolean> {
    const { context, key } = this;
    const { client, connection, connectTimeout } = context;
    validateAcquireOptions(options, { key, client });
    const request = { key, options, wait: connectTimeout };
    return runWait(context, request, async (wait) => {
      if (!connection.isConnected) await wait.until(connection.connected);
      const send = () => this.#send(occurrence, id);
      let reply: unknown;
      try {
        reply = await retryUntilAnswered(connection, send, wait, () => RETRY_AFTER);
      } catch (error) {
        throw lockErrorOf(error, { key, client }, connection);
      }
      if (reply === -1) throw tooFarAhead(occurrence, key, client);
      return reply === 1;
    });
  }

  async #send(occurrence: number, id: string): Promise<unknown> {
    const { client, connection, replicas } = this.context;
    const keys = [this.name.occurrence];
    const args = [occurrence, id, FARTHEST_AHEAD, LIFE];
    if (replicas === undefined || id === '')
      return await connection.run(occurrenceRaise, keys, args);
    const isRaised = (reply: unknown) => reply === 1;
    const { reply, acknowledged } = await connection.runReplicated(
      occurrenceRaise,
      keys,
      args,
      replicas,
      isRaised,
    );
    if (!isRaised(reply) || acknowledged >= replicas.atLeast) return reply;
    const message = `The occurrence of "${this.key}" of client "${client}" was acknowledged by ${acknowledged} of ${replicas.atLeast} replicas: a failover may forget it.`;
    if (replicas.otherwise !== 'warn')
      throw new LockConnectionError(
        `${message} It was not run. Check the replicas, or lower \`replicas.atLeast\`.`,
        { key: this.key, client },
      );
    process.emitWarning(message);
    return reply;
  }
}
