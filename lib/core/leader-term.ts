import type { ElectionBackend } from './election-backend.js';
import { HeldLease } from './held-lease.js';
import { Hold, type HoldBackend } from './hold.js';

/**
 * The time in which an elected one may act as the leader: to the first interruption, or until everybody who acts for it has
 * given it back. What comes after an interruption is another term.
 */
export class LeaderTerm implements HoldBackend {
  /** The lease of whoever began it. */
  readonly lease: HeldLease<LeaderTerm>;
  /** Resolves when it is over, lost or not. */
  readonly over: Promise<void>;
  #tellOver!: () => void;
  readonly #stops: (() => void)[];

  constructor(
    private readonly election: ElectionBackend,
    private readonly elected: HeldLease,
  ) {
    const { identity, context } = elected.hold;
    const hold = new Hold<LeaderTerm>(identity, context, this);
    this.over = new Promise((resolve) => (this.#tellOver = resolve));
    this.lease = new HeldLease(hold);
    this.#stops = [
      elected.hold.onLost(({ why }) => hold.lose(why)),
      election.onCertainty((why) => {
        if (!election.isCertain) hold.lose(why);
      }),
    ];
  }

  get clock() {
    return this.election.context.clock;
  }

  isExclusive(): boolean {
    return this.elected.isHeld && this.election.isCertain;
  }

  fencingToken(): Promise<bigint> {
    return this.elected.fencingToken();
  }

  lost(): void {
    this.#end();
  }

  /** What was elected stays so: whoever began the term decides about that. */
  async free(): Promise<void> {
    this.#end();
  }

  #end(): void {
    for (const stop of this.#stops) stop();
    this.#tellOver();
  }
}
