import {
  LockClientClosedError,
  LockConnectionError,
  LockOptionsError,
  LockTimeoutError,
} from '../errors/index.js';
import type { PeerDeadlocks } from '../deadlocks/peer-deadlocks.js';
import { isElection } from '../lock.js';
import type { KeptLock } from '../kept-lock.js';
import type { WaitContext } from './acquire.js';
import type { Hold } from './hold.js';
import { EventLoopStalls } from './event-loop-stalls.js';
import { inTurns, nextTurn } from './timers.js';
import { LeaseScope } from './lease-scope.js';
import type { OrderedSet } from '../collections/ordered-set.js';
import { settleWithin } from './timers.js';
import { listWork, type ListedWork } from './listed-work.js';
import { WaitScope } from './wait-scope.js';

/** Property of a client with connections that holds its `Liveness`; the same in all copies of this package. */
export const LIVENESS: unique symbol = Symbol.for('nestjs-interlock:liveness');

/** Whether the connections of a client keep the process alive. They do, until `unref`. */
export interface Liveness {
  /**
   * From now on its sockets and timers do not keep the process alive, as far as that can be set. Sockets and timers that are
   * made later may; so it is called again and again.
   */
  unref(): void;
  /** Closes what keeps the process alive nevertheless, and with it all locks; resolves when it is closed. */
  rest(): Promise<void>;
  /** Its connections keep the process alive again; opens what `rest` has closed. */
  ref(): void;
}

/** A participant of an election, from its start until it has left. */
export interface Candidate {
  readonly key: string;
  /** Leaves the election, and ends a leadership when the work under it has ended. */
  close(): Promise<void>;
}

/** What a client ends when it closes. */
interface ClosableContext extends Pick<WaitContext, 'client' | 'clock'> {
  /** Bound on waits that have none, in ms: see `LockClient.limitWaits`. */
  longestWait?: number;
  /** Which acquires are granted: from shutdown on only those inside held locks, in the end none. */
  accepts: WaitContext['accepts'];
  /** Acquires under way. */
  readonly waits: OrderedSet<WaitScope>;
  /** Locks held. */
  readonly holds: OrderedSet<Hold>;
  /** Locks that no caller uses, kept for the next one. */
  readonly kept?: OrderedSet<KeptLock> | undefined;
  /** Participants of elections. */
  readonly candidates: OrderedSet<Candidate>;
  readonly deadlocks?: PeerDeadlocks | undefined;
}

/** The part of a shutdown that is of one backend. */
interface ClosableBackend {
  /** Resolves when no release is under way, not even in the background. */
  drained(): Promise<void>;
  /** Closes the connection within `ms` milliseconds. */
  disconnect(ms: number): Promise<void> | void;
  /** The machine has slept; the leases that are past their end have been lost. */
  awoke?(): void;
}

/** What a closing client does with locks whose work has not ended: see `LockClient.close`. */
type UnfinishedWork = 'keep' | 'release';

/** How many locks a closing client frees at the same time. */
const FREED_AT_ONCE = 1_000;

const KEPT =
  'its client was closed before the work under it had ended; others are kept out until then';

/** Implements `limitWaits`, `refuse`, `drain`, `unfinished` and `close` of `LockClient`. */
export class ClientLifecycle {
  #closing?: Promise<void>;
  readonly #stopListening: () => void;

  constructor(
    private readonly context: ClosableContext,
    private readonly backend: ClosableBackend,
    stalls = EventLoopStalls.shared,
  ) {
    this.#stopListening = stalls.onSleep(() => void this.#awoke());
  }

  limitWaits(wait: number): void {
    this.context.longestWait = wait;
    for (const each of this.context.waits) each.bound(wait);
  }

  refuse(): void {
    const { context } = this;
    if (context.accepts === 'all') context.accepts = 'nested';
    for (const wait of context.waits) if (!wait.isInside) wait.close();
    void this.#giveBackKept();
  }

  async drain(): Promise<void> {
    this.refuse();
    for (const candidate of this.context.candidates) void candidate.close();
    for (;;) {
      await new Promise<void>((resolve) => nextTurn(resolve)); // work on a lock that was just granted begins
      const busy = this.#awaited;
      if (busy.length === 0) return;
      await Promise.all(busy.map((hold) => hold.idle()));
    }
  }

  unfinished(): ListedWork[] {
    return this.#awaited.map((hold) => listWork(hold.subject, () => this.#endOf(hold)));
  }

  close(timeout: number, unfinished: UnfinishedWork): Promise<void> {
    this.#closing ??= this.#close(timeout, unfinished);
    return this.#closing;
  }

  /** Each lock compares its lease with the clock now: the timers fire only as much later as the machine has slept. */
  async #awoke(): Promise<void> {
    await inTurns(this.context.holds.walk(), (hold) => void hold.isLive);
    this.backend.awoke?.();
  }

  /** Work of a selector ends only when its signal aborts. */
  async #endOf(hold: Hold): Promise<void> {
    if (isElection(hold.identity.recipe))
      for (const candidate of this.context.candidates)
        if (candidate.key === hold.context.key) void candidate.close();
    await hold.idle();
  }

  async #giveBackKept(): Promise<void> {
    const { kept } = this.context;
    if (kept !== undefined) await inTurns(kept.walk(), (lock) => lock.giveBack());
  }

  /** Locks under which work goes on, except for work that waits for it itself. */
  get #awaited(): Hold[] {
    const busy: Hold[] = [];
    for (const hold of this.context.holds.walk())
      if (hold.isInUse && !LeaseScope.isInside(hold)) busy.push(hold);
    return busy;
  }

  /** Invariant: the connection is closed only when no lock is kept. */
  async #close(timeout: number, unfinished: UnfinishedWork): Promise<void> {
    const { context } = this;
    const { clock } = context;
    const endsAt = clock.now() + timeout;
    context.accepts = 'none';
    this.#stopListening();
    const closed = inTurns(context.waits.walk(), (wait) => wait.close());
    const kept = unfinished === 'keep' ? await this.#withdrawBusy() : [];
    await settleWithin(timeout, clock, this.#releaseAllBut(kept, closed));
    if (kept.length > 0) void this.#finish(kept, timeout);
    else await this.backend.disconnect(Math.max(0, endsAt - clock.now()));
  }

  async #withdrawBusy(): Promise<Hold[]> {
    const busy: Hold[] = [];
    await inTurns(this.context.holds.walk(), (hold) => {
      if (hold.isInUse) busy.push(hold);
    });
    for (const hold of busy) hold.withdraw(KEPT);
    return busy;
  }

  /** Revokes and frees all other locks; resolves when the acquires are over, too. */
  async #releaseAllBut(kept: readonly Hold[], closed: Promise<void>): Promise<void> {
    const { holds, waits, deadlocks } = this.context;
    const left = deadlocks?.close();
    const stays = new Set(kept);
    const others: Hold[] = [];
    await inTurns(holds.walk(), (hold) => {
      if (stays.has(hold)) return;
      others.push(hold);
      hold.markLost('the client was closed');
    });
    let next = 0;
    const freeSome = async () => {
      while (next < others.length) await others[next++]!.free();
    };
    const lines = Math.min(FREED_AT_ONCE, others.length);
    await Promise.all(Array.from({ length: lines }, freeSome));
    await closed;
    await this.#giveBackKept();
    await Promise.all([...waits].map((wait) => wait.ended()));
    await this.backend.drained();
    await left;
  }

  /** Disconnects when the work under the locks that were kept has ended. */
  async #finish(kept: readonly Hold[], timeout: number): Promise<void> {
    const { clock } = this.context;
    const freed = kept.map(async (hold) => {
      await hold.idle();
      await hold.free();
    });
    await Promise.all(freed);
    await settleWithin(timeout, clock, this.backend.drained());
    await this.backend.disconnect(timeout);
  }
}

/**
 * Measures the milliseconds until `ask` resolves.
 *
 * Rejects with `LockConnectionError` when `ask` fails or takes longer than `timeout` ms, with `LockClientClosedError` when the
 * client closes, and with `LockOptionsError` when `timeout` is out of range.
 */
export async function measurePing(
  { client, clock, waits, accepts }: WaitContext,
  timeout: number,
  ask: () => Promise<unknown>,
): Promise<number> {
  if (accepts === 'none') throw new LockClientClosedError({ client });
  if (!(Number.isFinite(timeout) && timeout > 0))
    throw new LockOptionsError('timeout', timeout, 'milliseconds above 0', { client });
  const wait = new WaitScope({ client, clock, open: waits }, { wait: timeout });
  try {
    await wait.until(ask());
    return wait.elapsed;
  } catch (cause) {
    if (cause instanceof LockClientClosedError) throw cause;
    const why = cause instanceof LockTimeoutError ? '' : ` (${String(cause)})`;
    throw new LockConnectionError(
      `Lock client "${client}" had no answer within ${timeout} ms${why}. Check that the servers run.`,
      { client, cause },
    );
  } finally {
    wait.end();
  }
}
