import { runWait } from '../internal/acquire.js';
import { Hold, type HoldBackend } from '../internal/hold.js';
import { LeaseHandle } from '../internal/lease-handle.js';
import type { Lease } from '../lease.js';
import type { ElectionBackend } from './election-backend.js';

/** What a leader has while it is one. Its `signal` aborts with a `LockLostError` when it may not be the only one any more. */
export type Leadership = Pick<
  Lease,
  'key' | 'signal' | 'isHeld' | 'fencingToken' | 'assertHeld' | 'run'
>;

/** How long it waits after it could not stand for election, in ms. */
const STAND_AGAIN_AFTER = 1_000;

/** Between two attempts to stand for election. Resolves in a second, or as soon as `signal` aborts or the client closes. */
export async function waitToStandAgain(
  { key, context }: ElectionBackend,
  signal: AbortSignal,
): Promise<void> {
  const request = { key, options: { signal } };
  await runWait(context, request, (wait) => wait.sleep(STAND_AGAIN_AFTER)).catch(() => {}); // whoever goes on is told why
}

/**
 * The time in which an elected one may act as the leader: to the first interruption, or until everybody who acts for it has
 * given it back. What comes after an interruption is another term.
 */
export class LeaderTerm implements HoldBackend {
  /** The lease of whoever began it. */
  readonly lease: LeaseHandle<LeaderTerm>;
  /** Resolves when it is over, lost or not. */
  readonly over: Promise<void>;
  #tellOver!: () => void;
  readonly #stops: (() => void)[];

  constructor(
    private readonly election: ElectionBackend,
    private readonly elected: LeaseHandle,
  ) {
    const { identity, context } = elected.hold;
    const hold = new Hold<LeaderTerm>(identity, context, this);
    this.over = new Promise((resolve) => (this.#tellOver = resolve));
    this.lease = new LeaseHandle(hold);
    this.#stops = [
      elected.hold.onLost(({ why }) => hold.markLost(why)),
      election.onHealthChange((why) => {
        if (!election.isHealthy) hold.markLost(why);
      }),
    ];
  }

  get clock() {
    return this.election.context.clock;
  }

  isExclusive(): boolean {
    return this.elected.isHeld && this.election.isHealthy;
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

/** Resolves when who was elected may act as the leader, when that is lost, or when `signal` aborts. */
export function untilHealthy(
  election: ElectionBackend,
  elected: LeaseHandle,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!election.isHealthy && elected.isHeld && !signal.aborted) return;
      for (const stop of stops) stop();
      resolve();
    };
    const stops = [
      election.onHealthChange(look),
      elected.hold.onLost(look),
      () => signal.removeEventListener('abort', look),
    ];
    signal.addEventListener('abort', look);
    look();
  });
}
