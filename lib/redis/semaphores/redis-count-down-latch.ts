import { runWait } from '../../core/internal/acquire.js';
import { validateAcquireOptions, validatePermits } from '../../core/internal/validation.js';
import type { AcquireOptions } from '../../core/lock.js';
import type { LockName } from '../connection/lock-name.js';
import type { Script } from '../connection/script.js';
import { contend, type Contest } from '../locks/contend.js';
import { answerInTime, IdempotentRequests } from '../locks/idempotent-requests.js';
import type { AcquireCommands } from '../locks/lock-commands.js';
import type { RecipeContext } from '../recipe-context.js';
import { latchAwait, latchCountDown, latchDelete, latchSet } from '../scripts/index.js';

/** Time after which a waiter checks the latch, whether or not it was woken, in ms. */
const LONGEST_SILENCE = 5_000;

/**
 * A latch that opens when it is counted down to 0, wire-compatible with Redisson's `RCountDownLatch`. A latch that was never
 * closed, or was deleted, is open.
 *
 * Changes reject with `LockConnectionError` when Redis does not answer within `connectTimeout` or the client is closed: then it
 * is unknown whether they were carried out.
 */
export class RedisCountDownLatch {
  readonly #requests: IdempotentRequests;

  constructor(
    private readonly context: RecipeContext,
    private readonly name: LockName,
    readonly key: string,
  ) {
    this.#requests = new IdempotentRequests(context, name, { key, client: context.client });
  }

  /**
   * Closes the latch if it is open, so that `count` count-downs open it again; resolves to whether it did.
   *
   * Rejects with `LockOptionsError` unless `count` is a whole number from 1 to 2^31 - 1.
   */
  async trySetCount(count: number): Promise<boolean> {
    validatePermits(count, { key: this.key, client: this.context.client }, undefined, 'count');
    return (await this.#change(latchSet, count)) === 1;
  }

  /** Counts down by one; resolves to the remaining count. Does nothing on an open latch. */
  countDown(): Promise<number> {
    return this.#change(latchCountDown);
  }

  /** Resolves to the remaining count; 0 if the latch is open. Rejects with `LockConnectionError` if there is no answer in time. */
  async getCount(): Promise<number> {
    const { context, name, key } = this;
    const about = { key, client: context.client };
    return Number(
      await answerInTime(context, about, context.connection.read('get', name.redisKey)),
    );
  }

  /** Deletes the latch, which opens it for all waiters; resolves to whether it was closed. */
  async delete(): Promise<boolean> {
    return (await this.#change(latchDelete)) === 1;
  }

  /**
   * Resolves when the latch is open. A lost message causes a delay of 5 s at most.
   *
   * Rejects with `LockTimeoutError` after `wait` ms, `LockAbortedError`, `LockClientClosedError`, `LockConnectionError`,
   * `LockOptionsError`.
   */
  async await({ wait = this.context.wait, signal }: AcquireOptions = {}): Promise<void> {
    const { context, key } = this;
    const options = { wait, signal };
    validateAcquireOptions(options, { key, client: context.client });
    const request = { holder: '', lease: Infinity, about: '', mayWait: true };
    const readOnly = { ...context, replicas: undefined };
    const contest: Contest<true> = {
      key,
      commands: this.#commands,
      request,
      line: { localQueue: 'none', redisKey: this.name.redisKey },
      granted: () => true,
      takeBack: () => {},
    };
    await runWait(context, { key, options }, (scope) => contend(readOnly, contest, scope));
  }

  #change(script: Script, ...args: number[]): Promise<number> {
    const { redisKey, latchChannel } = this.name;
    const { publishCommand } = this.context.connection;
    return this.#requests.run(script, [redisKey], [publishCommand, latchChannel, ...args]);
  }

  get #commands(): AcquireCommands {
    const { redisKey, latchChannel } = this.name;
    return {
      redisKey,
      maxSleep: LONGEST_SILENCE,
      leavesQueueEntry: false,
      channelOf: () => latchChannel,
      acquire: () => ({ script: latchAwait, keys: [redisKey], args: [] }),
    };
  }
}
