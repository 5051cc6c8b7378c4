import type { Clock, Timer } from './clock.js';
import type { OrderedSet } from './collections/ordered-set.js';
import type { Tenure } from './hand-off.js';
import type { LockIdentity } from './lock.js';

/** The client that keeps a lock. */
interface Keeper {
  readonly clock: Clock;
  /** Those that it keeps: it gives them back when it closes. */
  readonly kept: OrderedSet<KeptLock>;
}

/** A hold that is kept. */
interface KeptHold {
  readonly identity: LockIdentity;
  /** Its place in the line of its lock; the last one, when this begins. */
  readonly place: { onFollowed?: (() => void) | undefined };
  readonly tenure: Tenure;
  /** Hands it on to the next one in the line; returns whether that took it. */
  handOn(): boolean;
  /** Releases it, and then leaves the line. */
  giveBack(): void;
}

/**
 * A lock that no caller of its client uses, kept for the next one; see `HandOff.keep`.
 *
 * Invariant: it has the first place in the line of its lock. It ends once: the next one in the line takes it, in the turn in which
 * that comes, or it is given back.
 */
export class KeptLock {
  readonly #timer: Timer;
  readonly #forget: () => void;
  #hasEnded = false;

  /** @param ms how long it is kept */
  constructor(
    keeper: Keeper,
    private readonly hold: KeptHold,
    ms: number,
  ) {
    const { place, tenure } = hold;
    this.#forget = keeper.kept.add(this);
    this.#timer = keeper.clock.setTimer(() => this.giveBack(), ms, true);
    const followed = () => this.#followed();
    const wanted = () => this.giveBack();
    place.onFollowed = followed;
    tenure.onWanted = wanted;
  }

  get identity(): LockIdentity {
    return this.hold.identity;
  }

  /** Does nothing if it has ended. */
  giveBack(): void {
    if (this.#end()) this.hold.giveBack();
  }

  #followed(): void {
    if (this.hold.handOn()) this.#end();
    else this.giveBack();
  }

  #end(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    const { place, tenure } = this.hold;
    this.#timer.cancel();
    this.#forget();
    place.onFollowed = undefined;
    tenure.onWanted = undefined;
    return true;
  }
}
