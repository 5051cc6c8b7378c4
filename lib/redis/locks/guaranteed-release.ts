import type { Clock } from '../../core/clock.js';
import { SwapRemoveSet } from '../../core/collections/swap-remove-set.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import { isOtherType, isPassing, isReply } from '../connection/redis-error.js';
import { asLongAs, retryUntilAnswered } from '../connection/retry-until-answered.js';
import type { LockCommand } from './lock-commands.js';

/** Delay before a failed release is sent again, in ms. */
const RETRY_AFTER = 200;
/** How long the caller waits for an answer, in ms; after that the release continues in the background. */
const PATIENCE = 1_000;

/** Releases locks, in the background if necessary; no release is dropped before the lease has expired by itself. */
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
   * @param command the release; a promise of it if another request must be answered first, so that it cannot arrive later
   * @param until when the lease has expired anyway, by the local clock
   */
  run(command: LockCommand | Promise<LockCommand>, until: number): Promise<number | undefined> {
    const released = this.#release(command, until);
    const forget = this.#pending.add(released);
    return new Promise((resolve) => {
      const isSlow = command instanceof Promise || !this.connection.isReady;
      const timer = isSlow ? undefined : this.clock.setTimer(() => resolve(undefined), PATIENCE);
      if (isSlow) resolve(undefined);
      void released.then((answer) => {
        timer?.cancel();
        forget();
        resolve(answer);
      });
    });
  }

  /** As `run`, but resolves when the release is finished, however long that takes; to `undefined` if it was given up. */
  complete(
    command: LockCommand | Promise<LockCommand>,
    until: number,
  ): Promise<number | undefined> {
    const released = this.#release(command, until);
    const forget = this.#pending.add(released);
    void released.then(forget);
    return released;
  }

  /** Resolves when no release is pending. */
  async drained(): Promise<void> {
    while (this.#pending.size > 0) await Promise.all(this.#pending);
  }

  /** Stops sending. */
  close(): void {
    this.#isClosed = true;
  }

  async #release(
    command: LockCommand | Promise<LockCommand>,
    until: number,
  ): Promise<number | undefined> {
    const { script, keys, args } = command instanceof Promise ? await command : command;
    const send = () => this.connection.run(script, keys, args);
    const isWanted = () => !this.#isClosed && this.clock.now() <= until;
    const bound = asLongAs(this.clock, isWanted);
    try {
      return Number(await retryUntilAnswered(this.connection, send, bound, () => RETRY_AFTER));
    } catch (error) {
      // A key of another type is no lock to release. After the lease, or without connection, it expires by itself.
      if (isReply(error) && !isOtherType(error) && !isPassing(error)) this.refused(error);
      return undefined;
    }
  }
}
