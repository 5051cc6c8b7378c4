import type { Clock } from '../../core/clock.js';
import { SwapRemoveSet } from '../../core/internal/swap-remove-set.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import { isOtherType, isPassing, isReply } from '../connection/redis-error.js';
import { asLongAs, retryUntilAnswered } from '../connection/retry-until-answered.js';
import type { LockCommand } from './lock-commands.js';

/** Delay before a release that failed is sent again, in ms. */
const RETRY_AFTER = 200;
/** How long the caller waits for an answer, in ms; then it goes on in the background. */
const PATIENCE = 1_000;

/** Gives locks back, in the background where it must be; none is forgotten before its lease is over by itself. */
export class GuaranteedRelease {
  readonly #pending = new SwapRemoveSet<Promise<unknown>>();
  #isClosed = false;

  constructor(
    private readonly connection: RedisConnection,
    private readonly clock: Clock,
    private readonly refused: (error: Error) => void,
  ) {}

  /**
   * Sends a release; resolves to its answer, or to `undefined` as soon as it is known to take longer. Never rejects.
   *
   * @param command made anew for each attempt
   * @param until when the lease is over anyway, by our clock
   * @param after what must have been answered before, so that it cannot come after the release; it does not reject
   */
  run(
    command: () => LockCommand,
    until: number,
    after?: Promise<unknown>,
  ): Promise<number | undefined> {
    const released = this.#release(command, until, after);
    const forget = this.#pending.add(released);
    return new Promise((resolve) => {
      const isSlow = after !== undefined || !this.connection.isReady;
      const timer = isSlow ? undefined : this.clock.setTimer(() => resolve(undefined), PATIENCE);
      if (isSlow) resolve(undefined);
      void released.then((answer) => {
        timer?.cancel();
        forget();
        resolve(answer);
      });
    });
  }

  /** As `run`, but resolves when it is over, however long that takes: to `undefined` when it was given up. */
  complete(
    command: () => LockCommand,
    until: number,
    after?: Promise<unknown>,
  ): Promise<number | undefined> {
    const released = this.#release(command, until, after);
    const forget = this.#pending.add(released);
    void released.then(forget);
    return released;
  }

  /** Waits for all releases under way. */
  async drained(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /** Sends nothing more. */
  close(): void {
    this.#isClosed = true;
  }

  async #release(
    command: () => LockCommand,
    until: number,
    after?: Promise<unknown>,
  ): Promise<number | undefined> {
    if (after) await after;
    const send = () => {
      const { script, keys, args } = command();
      return this.connection.run(script, keys, args);
    };
    const isWanted = () => !this.#isClosed && this.clock.now() <= until;
    const bound = asLongAs(this.clock, isWanted);
    try {
      return Number(await retryUntilAnswered(this.connection, send, bound, () => RETRY_AFTER));
    } catch (error) {
      // Of another type: there is no lock to give back. And what is over, or has no connection, ends by itself.
      if (isReply(error) && !isOtherType(error) && !isPassing(error)) this.refused(error);
      return undefined;
    }
  }
}
