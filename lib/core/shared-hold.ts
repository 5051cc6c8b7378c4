import type { Tenure } from './hand-off.js';
import type { Hold } from './internal/hold.js';

/** Place of a caller in the line of its lock; see `LinePlace`. */
interface Place {
  readonly isLast: boolean;
  onFollowed?: (() => void) | undefined;
  handOff(handed: SharedHold): boolean;
  leave(): void;
}

/** A grant of the servers that several callers of one client may have. */
interface SharedGrant {
  readonly tenure: Tenure;
  /** Whether another caller may have it now. */
  mayGoOn(): boolean;
  /** Makes a hold of it for a caller. */
  newHold(method?: string): Hold;
}

/**
 * A read lock that the servers have granted to one caller of a client, and that those which come meanwhile have at the same time;
 * specified in `SharedRead.tla`.
 *
 * Invariants:
 * - While it is open, the caller that came last has the first place in the line of the lock. The next one takes that with its hold,
 *   in the turn in which it comes, or closes it and asks the servers.
 * - It is closed before it is released, and before a listener learns that one of its holds is lost.
 * - It is released once, when none of its holds is left that is neither released nor lost.
 */
export class SharedHold {
  readonly #holds: Set<Hold>;
  readonly #offer = () => this.#offerToNext();
  /** Place of the caller that came last, while it is open. */
  #place?: Place | undefined;
  #isOver = false;

  /** The callers that wait behind that place have it before this returns, within the bounds. */
  constructor(
    private readonly grant: SharedGrant,
    first: Hold,
    place: Place,
  ) {
    this.#holds = new Set([first]);
    this.#openAt(place);
    this.#offerToNext();
  }

  /** Those that are neither released nor lost. */
  get holds(): readonly Hold[] {
    return [...this.#holds];
  }

  get tenure(): Tenure {
    return this.grant.tenure;
  }

  /** Makes a hold for the caller at that place, the next one in the line. */
  join(place: Place, method?: string): Hold {
    this.tenure.handOffs += 1;
    const hold = this.grant.newHold(method);
    this.#holds.add(hold);
    this.#openAt(place);
    return hold;
  }

  /** One of its holds is lost; returns whether other callers still have it. */
  lose(hold: Hold): boolean {
    this.#holds.delete(hold);
    this.#close();
    return this.#holds.size > 0;
  }

  /** The caller of one of its holds releases that, lost or not; returns false if the servers are to release the lock now. */
  leave(hold: Hold): boolean {
    this.#holds.delete(hold);
    if (this.#holds.size > 0 || this.#isOver) return true;
    this.#isOver = true;
    this.#close();
    return false;
  }

  #openAt(place: Place): void {
    this.#place = place;
    place.onFollowed = this.#offer;
  }

  #offerToNext(): void {
    while (this.#place !== undefined && !this.#place.isLast)
      if (!this.grant.mayGoOn() || !this.#place.handOff(this)) this.#close();
  }

  /** The next one in the line, if there is one, asks the servers. */
  #close(): void {
    const place = this.#place;
    if (place === undefined) return;
    this.#place = undefined;
    place.onFollowed = undefined;
    place.leave();
  }
}
