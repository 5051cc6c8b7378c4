import { ElectionClosedError, LockClientClosedError, LockOptionsError } from '../errors/index.js';
import type { LeaseHandle } from '../internal/lease-handle.js';
import { LeaseScope } from '../internal/lease-scope.js';
import type { ElectionBackend, LeaderOptions, Participant } from './election-backend.js';
import { type Leadership, LeaderTerm, waitToStandAgain, untilHealthy } from './leader-term.js';

/** Options of a `LeaderSelector`. */
export interface LeaderSelectorOptions extends LeaderOptions {
  /**
   * Does it queue again each time that it has led?
   *
   * @default false
   */
  readonly autoRequeue?: boolean;
}

/** What a leader does; it leads until that has ended. */
export type TakeLeadership = (leadership: Leadership) => unknown;

/**
 * Stands for election once for each time that it is queued, and leads for as long as `takeLeadership` runs: all selectors of
 * a key take turns. Curator's class of that name; on ZooKeeper compatible with it on the wire.
 *
 * `takeLeadership` runs in the scope of the leadership alone, so that `currentLease()` is it. Nothing can stop it: when the
 * leadership is lost or interrupted, its `signal` aborts, and others may lead. When it fails, that is a process warning,
 * unless it does so because of that signal: with the signal's reason, or an `AbortError`.
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

  /** Who it is among the participants. */
  get id(): string {
    return this.election.id;
  }

  /** Asked of the clock at this very moment, so it holds over event-loop stalls too. */
  get hasLeadership(): boolean {
    return this.#term?.lease.isHeld === true;
  }

  /**
   * Begins, and queues for the first time.
   *
   * @throws ElectionClosedError
   */
  start(): void {
    if (this.#isStarted && !this.#isClosed) return;
    this.#isStarted = true;
    this.requeue();
  }

  /**
   * Stands for election once more, in the background: what fails is told as the event `failed`, and tried again. False: it
   * stands or leads already, or has not been started. As soon as `takeLeadership` has ended it may.
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

  /** Aborts the `signal` of the leadership, if there is one now; others lead when `takeLeadership` has ended. */
  interruptLeadership(): void {
    this.#term?.lease.hold.markLost('it was interrupted');
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
   * Interrupts its leadership, and stands for election no longer. Idempotent; resolves when others may be elected: when
   * `takeLeadership` has ended, so do not await it in there.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#withdrawal.abort();
    this.#term?.lease.hold.markLost('its selector was closed');
    await this.#campaign;
  }

  /** @param before gives back what it led by the last time */
  async #run(before?: Promise<void>): Promise<void> {
    const { signal } = this.#withdrawal;
    let hasLed = false;
    if (before) await before;
    while (!this.#isClosed && (!hasLed || this.autoRequeue))
      try {
        hasLed = await this.#lead(await this.election.elect(signal));
      } catch (error) {
        if (signal.aborted) break;
        if (error instanceof LockClientClosedError) this.#isClosed = true;
        else await waitToStandAgain(this.election, signal);
      }
  }

  /** Resolves to false when it was lost, or closed, before it could lead. */
  async #lead(elected: LeaseHandle): Promise<boolean> {
    const { signal } = this.#withdrawal;
    try {
      while (elected.isHeld && !this.#isClosed) {
        await untilHealthy(this.election, elected, signal);
        await this.election.confirm(elected, signal);
        // Nothing may come between this look and the term, which looks for itself from then on.
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

/** Was it thrown by who stops because the leadership is lost? */
function isObedient(error: unknown, lost: Error | undefined): boolean {
  const isAbort = (error as { name?: unknown } | undefined | null)?.name === 'AbortError';
  return lost !== undefined && (error === lost || isAbort);
}
