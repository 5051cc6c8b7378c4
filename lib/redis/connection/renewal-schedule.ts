import type { Clock, Timer } from '../../core/clock.js';
import { SwapRemoveSet } from '../../core/internal/swap-remove-set.js';

/** Entries of a {@link Renewable} while it is registered. */
export interface Registration {
  readonly leave: () => void;
  unschedule?: (() => void) | undefined;
}

/** A hold with a lease that the {@link Watchdog} keeps alive. */
export interface Renewable {
  /** As `LockCommands.renewalKeys`. */
  readonly keys: readonly [lock: string, hold: string];
  /** The field of the holder. */
  readonly field: string | Buffer;
  readonly kind: 'alone' | 'write' | 'read' | 'permits';
  /** Length of the lease, in ms. */
  readonly lease: number;
  /** How often the hold was extended: a command older than the last extension changes nothing on the server. */
  readonly extension?: number | undefined;
  /** True if the command sets the lease; a renewal only raises it. */
  readonly isExtension?: boolean | undefined;
  /** Time until which the hold is safe, by the client's clock. */
  readonly deadline: number;
  /** Managed by the renewal. */
  registration?: Registration | undefined;
  /** The lease was set to `lease` ms by a command sent at `sentAt`. */
  renewed(sentAt: number, lease: number): void;
  /** The server no longer knows the hold. */
  gone(): void;
  /** The deadline has passed. */
  expired(): void;
}

/** Schedule of the renewals of all holds, with a single timer. */
export class RenewalSchedule {
  readonly #due = new Map<number, SwapRemoveSet<Renewable>>();
  #timer?: Timer;
  #timerAt = Infinity;

  /** @param renew called with the holds that are due, which are no longer in the schedule */
  constructor(
    private readonly clock: Clock,
    private readonly renew: (holds: readonly Renewable[]) => void,
  ) {}

  /**
   * Adds the hold at a time rounded down to a step, so that many are renewed together: never later than after a third of the
   * remaining lease. The returned function removes it.
   */
  add(hold: Renewable): () => void {
    const now = this.clock.now();
    const step = hold.lease / 30;
    const at = Math.floor((now + (hold.deadline - now) / 3) / step) * step;
    const due = this.#due.get(at) ?? new SwapRemoveSet();
    this.#due.set(at, due);
    const leave = due.add(hold);
    if (at < this.#timerAt) this.#arm(at);
    return () => {
      leave();
      if (due.size === 0 && this.#due.get(at) === due) this.#forget(at);
    };
  }

  #forget(at: number): void {
    this.#due.delete(at);
    if (this.#due.size === 0) this.#arm(Infinity);
  }

  #arm(at: number): void {
    this.#timer?.cancel();
    this.#timerAt = at;
    this.#timer = undefined;
    if (at === Infinity) return;
    const delay = Math.max(0, at - this.clock.now());
    this.#timer = this.clock.setTimer(() => this.#tick(), delay, true);
  }

  #tick(): void {
    const now = this.clock.now();
    const holds: Renewable[] = [];
    for (const [at, due] of this.#due) {
      if (at > now) continue;
      this.#due.delete(at);
      holds.push(...due);
    }
    this.#arm(Math.min(Infinity, ...this.#due.keys()));
    this.renew(holds);
  }
}
