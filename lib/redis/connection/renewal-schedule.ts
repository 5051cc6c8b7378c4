import type { Clock, Timer } from '../../core/clock.js';
import { SwapRemoveSet } from '../../core/internal/swap-remove-set.js';

/** Where a {@link Renewable} stands while it is registered. */
export interface Registration {
  readonly leave: () => void;
  unschedule?: () => void;
}

/** A hold whose lease the {@link Renewal} keeps alive. */
export interface Renewable {
  /** As `LockCommands.renewalKeys`. */
  readonly keys: readonly [lock: string, hold: string];
  /** The field of the holder. */
  readonly field: string | Buffer;
  readonly kind: 'alone' | 'write' | 'read' | 'permits';
  /** Length of its lease, in ms. */
  readonly lease: number;
  /** How often the hold was extended: on the server, what is older than the last extension changes nothing. */
  readonly extension?: number;
  /** Does it set the lease? A renewal only raises it. */
  readonly isExtension?: boolean;
  /** By our clock it is safe up to then. */
  readonly deadline: number;
  /** Kept by the renewal. */
  registration?: Registration;
  /** Its lease was set anew, to so many ms, by a command sent at that time. */
  renewed(sentAt: number, lease: number): void;
  /** The server does not know the hold any more. */
  gone(): void;
  /** Its deadline has passed. */
  expired(): void;
}

/** Which hold is to be renewed when: one timer for all of them. */
export class RenewalSchedule {
  readonly #due = new Map<number, SwapRemoveSet<Renewable>>();
  #timer?: Timer;
  #timerAt = Infinity;

  /** @param renew called with those whose time has come, which stand in it no longer */
  constructor(
    private readonly clock: Clock,
    private readonly renew: (holds: readonly Renewable[]) => void,
  ) {}

  /**
   * Puts the hold in, at times in steps, so that many go together: never later than a third of what is left of the lease.
   * The returned function takes it out.
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
