import { Bag } from '../../core/bag.js';
import type { Clock } from '../../core/clock.js';
import { isOtherType, isPassing } from '../connection/redis-error.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import type { LockCommand } from './lock-commands.js';

/** Delay before a release that failed is sent again, in ms. */
const RETRY_AFTER = 200;
/** How long the caller waits for an answer, in ms; then it goes on in the background. */
const PATIENCE = 1_000;

/** Gives locks back, in the background where it must be; none is forgotten before its lease is over by itself. */
export class GuaranteedRelease {
  readonly #pending = new Bag<Promise<unknown>>();
  #isClosed = false;

  constructor(
    private readonly connection: RedisConnection,
    private readonly clock: Clock,
    private readonly refused: (error: Error) => void,
  ) {}

  /**
   * Sends a release; resolves to its answer, or to `undefined` as soon as it is known to take longer. Never rejects.
   *
   * @param until when the lease is over anyway, by our clock
   * @param after what must have been answered before, so that it cannot come after the release; it does not reject
   */
  run(command: LockCommand, until: number, after?: Promise<unknown>): Promise<number | undefined> {
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

  /** Waits for `work` too before the client has closed, however it ends. */
  follow(work: Promise<unknown>): void {
    const forget: () => void = this.#pending.add(
      work.then(
        () => forget(),
        () => forget(),
      ),
    );
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
    { script, keys, args }: LockCommand,
    until: number,
    after?: Promise<unknown>,
  ): Promise<number | undefined> {
    if (after) await after;
    for (;;) {
      try {
        return Number(await this.connection.run(script, keys, args));
      } catch (error) {
        if (isOtherType(error)) return undefined; // there is no lock to give back
        if (!isPassing(error)) return void this.refused(error as Error);
        if (this.#isClosed || this.connection.hasEnded || this.clock.now() > until) return;
        await new Promise<void>((resolve) => this.clock.setTimer(resolve, RETRY_AFTER, true));
      }
    }
  }
}
