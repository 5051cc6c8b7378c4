import { runWait } from '../internal/acquire.js';
import { Hold, type HoldBackend } from '../internal/hold.js';
import { LeaseHandle } from '../internal/lease-handle.js';
import type { Lease } from '../lease.js';
import type { ElectionBackend } from './election-backend.js';

/** Handle of a current leader. Its `signal` aborts with a `LockLostError` when it may no longer be the only leader. */
export type Leadership = Pick<
  Lease,
  'key' | 'signal' | 'isHeld' | 'fencingToken' | 'guard' | 'assertHeld' | 'run'
>;

/** Pause after a failed attempt to join the election, in ms. */
const STAND_AGAIN_AFTER = 1_000;

/** Pause between two attempts to join the election. Resolves in a second, or once `signal` aborts or the client closes. */
export async function waitToStandAgain(
  { key, context }: ElectionBackend,
  signal: AbortSignal,
): Promise<void> {
  const request = { key, options: { signal } };
  await runWait(context, request, (wait) => wait.sleep(STAND_AGAIN_AFTER)).catch(() => {}); // the next attempt reports it
}

/**
 * The period in which an elected participant may act as the leader: until the first interruption, or until every lease on
 * it is released. Another term follows an interruption.
 */
export class LeaderTerm implements HoldBackend {
  /** The lease of the latch or selector that began the term. */
  readonly lease: LeaseHandle<LeaderTerm>;
  /** Resolves when the term is over, lost or not. */
  readonly over: Promise<void>;
  readonly parts: readonly Hold[];
  #tellOver!: () => void;
  readonly #stops: (() => void)[];

  constructor(
    private readonly election: ElectionBackend,
    private readonly elected: LeaseHandle,
  ) {
    const { identity, context } = elected.hold;
    this.parts = [elected.hold];
    const hold = new Hold<LeaderTerm>(identity, context, this);
    this.over = new Promise((resolve) => (this.#tellOver = resolve));
    this.lease = new LeaseHandle(hold);
    this.#stops = [
      elected.hold.onLost(({ why }) => {
        if (!elected.hold.isWithdrawn) return hold.markLost(why);
        hold.withdraw(why);
        this.#end();
      }),
      election.onHealthChange((why) => {
        if (!election.isHealthy) hold.markLost(why);
      }),
    ];
  }

  get clock() {
    return this.election.context.clock;
  }

  get confirmedAgoMs(): number | undefined {
    return this.elected.hold.backend.confirmedAgoMs;
  }

  isExclusive(): boolean {
    const { isHeld, hold } = this.elected;
    return (isHeld || hold.isWithdrawn) && this.election.isHealthy;
  }

  fencingToken(): Promise<bigint> {
    return this.elected.fencingToken();
  }

  lost(): void {
    this.#end();
  }

  /** Keeps the elected lease: the latch or selector that began the term releases it. */
  async free(): Promise<void> {
    this.#end();
  }

  #end(): void {
    for (const stop of this.#stops) stop();
    this.#tellOver();
  }
}

/** Resolves when the elected participant may act as the leader, when its lease is lost, or when `signal` aborts. */
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
