import { ElectionClosedError, LockClientClosedError, LockOptionsError } from '../errors/index.js';
import type { LeaseHandle } from '../internal/lease-handle.js';
import { LeaseScope } from '../internal/lease-scope.js';
import type { ElectionBackend, LeaderOptions, Participant } from './election-backend.js';
import { type Leadership, LeaderTerm, waitToStandAgain, untilHealthy } from './leader-term.js';

/** Options of a `LeaderSelector`. */
export interface LeaderSelectorOptions extends LeaderOptions {
  /**
   * Whether it queues again each time it has led.
   *
   * @default false
   */
  readonly autoRequeue?: boolean | undefined;
}

/** The work of a leader; the leadership ends with it. */
export type TakeLeadership = (leadership: Leadership) => unknown;

/**
 * Takes part in one election each time it is queued, and leads for as long as `takeLeadership` runs: all selectors of a key
 * take turns. Curator's class of that name; on ZooKeeper compatible with it on the wire.
 *
 * `takeLeadership` runs in the scope of the leadership alone, so that `currentLease()` returns it. Nothing can stop it: when
 * the leadership is lost or interrupted, its `signal` aborts, and others may lead. A failure of it is reported as a process
 * warning, unless it is caused by that signal: the signal's reason, or an `AbortError`.
 */
export class LeaderSelector {
  #isClosed = false;
  #isStarted = false;
  #isQueued = false;
  #term?: LeaderTerm;
  #campaign?: Promise<void>;
  readonly #withdrawal = new AbortController();

  constructor(
    private readonly election: ElectionBackend,
    private readonly takeLeadership: TakeLeadership,
    private readonly autoRequeue: boolean,
  ) {
    const { key, context } = election;
    if (typeof takeLeadership === 'function') return;
    const { client } = context;
    throw new LockOptionsError('takeLeadership', takeLeadership, 'a function', { key, client });
  }

  get key(): string {
    return this.election.key;
  }

  /** Id of this participant. */
  get id(): string {
    return this.election.id;
  }

  /** Whether it leads. Each read checks the clock, so it is correct after event-loop stalls too. */
  get hasLeadership(): boolean {
    return this.#term?.lease.isHeld === true;
  }

  /**
   * Starts, and queues for the first time.
   *
   * @throws ElectionClosedError
   */
  start(): void {
    if (this.#isStarted && !this.#isClosed) return;
    this.#isStarted = true;
    this.requeue();
  }

  /**
   * Joins the election once more, in the background; failures are emitted as the event `failed` and retried. Returns false
   * if it is queued or leads already, or was not started. It may be requeued as soon as `takeLeadership` has ended.
   *
   * @throws ElectionClosedError
   */
  requeue(): boolean {
    const { key, context } = this.election;
    if (this.#isClosed) throw new ElectionClosedError({ key, client: context.client });
    if (!this.#isStarted || this.#isQueued) return false;
    this.#isQueued = true;
    const before = this.#campaign;
    this.#campaign = LeaseScope.runOutside(() => this.#run(before));
    return true;
  }

  /** Aborts the `signal` of the current leadership, if any; others may lead when `takeLeadership` has ended. */
  interruptLeadership(): void {
    this.#term?.lease.hold.withdraw('it was interrupted');
  }

  /** As `LeaderLatch.participants`. */
  participants(): Promise<Participant[]> {
    return this.election.participants();
  }

  /** As `LeaderLatch.leader`. */
  async leader(): Promise<Participant | undefined> {
    return (await this.participants()).find(({ isLeader }) => isLeader);
  }

  /**
   * Interrupts its leadership and leaves the election. Idempotent; resolves when another participant may be elected: when
   * `takeLeadership` has ended, so do not await it in there.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#withdrawal.abort();
    this.#term?.lease.hold.withdraw('its selector was closed');
    await this.#campaign;
  }

  /** @param before the previous run, which releases the lease of the last leadership */
  async #run(before?: Promise<void>): Promise<void> {
    const { signal } = this.#withdrawal;
    let hasLed = false;
    const leave = this.election.context.candidates.add(this);
    if (before) await before;
    while (!this.#isClosed && (!hasLed || this.autoRequeue))
      try {
        hasLed = await this.#lead(await this.election.elect(signal));
      } catch (error) {
        if (signal.aborted) break;
        if (error instanceof LockClientClosedError) this.#isClosed = true;
        else await waitToStandAgain(this.election, signal);
      }
    leave();
  }

  /** Resolves to false if the lease was lost, or the selector closed, before it could lead. */
  async #lead(elected: LeaseHandle): Promise<boolean> {
    const { signal } = this.#withdrawal;
    try {
      while (elected.isHeld && !this.#isClosed) {
        await untilHealthy(this.election, elected, signal);
        await this.election.confirm(elected, signal);
        // Nothing may run between this check and the creation of the term, which checks for itself from then on.
        if (!elected.isHeld || this.#isClosed || !this.election.isHealthy) continue;
        await this.#take(new LeaderTerm(this.election, elected));
        return true;
      }
      return false;
    } finally {
      await elected.release();
    }
  }

  async #take(term: LeaderTerm): Promise<void> {
    const { lease } = term;
    this.#term = term;
    try {
      await lease.run(() => this.takeLeadership(lease));
    } catch (error) {
      if (!isObedient(error, lease.hold.lost))
        process.emitWarning(`The leader of ${JSON.stringify(this.key)} failed: ${String(error)}`);
    } finally {
      this.#term = undefined;
      this.#isQueued = this.autoRequeue;
      await lease.release();
    }
  }
}

/** Whether the error comes from work that stopped because the leadership was lost. */
function isObedient(error: unknown, lost: Error | undefined): boolean {
  const isAbort = (error as { name?: unknown } | undefined | null)?.name === 'AbortError';
  return lost !== undefined && (error === lost || isAbort);
}
