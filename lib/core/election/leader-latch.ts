import { ElectionClosedError, LockClientClosedError, type LockLostError } from '../errors/index.js';
import { runWait } from '../internal/acquire.js';
import { LeaseHandle } from '../internal/lease-handle.js';
import { LeaseScope } from '../internal/lease-scope.js';
import { Listeners } from '../internal/listeners.js';
import { validateAcquireOptions } from '../internal/validation.js';
import type { WaitScope } from '../internal/wait-scope.js';
import type { AcquireOptions } from '../lock.js';
import type { ElectionBackend, Participant } from './election-backend.js';
import { type Leadership, LeaderTerm, waitToStandAgain, untilHealthy } from './leader-term.js';

/**
 * Stands for election from `start` to `close`, and leads whenever it is elected: one of all latches of that key, the one that
 * has stood the longest. Curator's class of that name; on ZooKeeper compatible with it on the wire.
 *
 * Invariant: it has leadership only while what it was elected by is held (see `Lease`), the connection is up (see
 * `errorPolicy`), and after every interruption only when the servers have confirmed it.
 */
export class LeaderLatch {
  #state: 'LATENT' | 'STARTED' | 'CLOSED' = 'LATENT';
  #term?: LeaderTerm;
  #campaign?: Promise<void>;
  readonly #withdrawal = new AbortController();
  readonly #onLeadership: Listeners<[Leadership]>;
  readonly #onLeadershipLost: Listeners<[LockLostError?]>;
  /** Told when there is another term, or a reason why not. */
  readonly #waiters = new Set<(failure?: Error) => void>();

  constructor(private readonly election: ElectionBackend) {
    const what = `the election ${JSON.stringify(election.key)}`;
    this.#onLeadership = new Listeners(what);
    this.#onLeadershipLost = new Listeners(what);
  }

  get key(): string {
    return this.election.key;
  }

  /** Who it is among the participants. */
  get id(): string {
    return this.election.id;
  }

  /** `LATENT` before `start`; `CLOSED` after `close` of it or of its client. */
  get state(): 'LATENT' | 'STARTED' | 'CLOSED' {
    return this.#state;
  }

  /** Asked of the clock at this very moment, so it holds over event-loop stalls too. */
  get hasLeadership(): boolean {
    return this.#term?.lease.isHeld === true;
  }

  /** What it leads by, as long as it does. */
  get leadership(): Leadership | undefined {
    return this.hasLeadership ? this.#term!.lease : undefined;
  }

  /**
   * Begins to stand for election, in the background: what fails is told as the event `failed`, and tried again. Idempotent.
   *
   * @throws ElectionClosedError
   */
  start(): void {
    if (this.#state === 'CLOSED') throw this.#closed;
    this.#state = 'STARTED';
    this.#campaign ??= LeaseScope.runOutside(() => this.#run());
  }

  /**
   * Resolves when it leads.
   *
   * Rejects as `Lock.acquire` does, also when it cannot stand for election at the moment, and with `ElectionClosedError`.
   */
  async awaitLeadership(options: AcquireOptions = {}): Promise<Leadership> {
    const { key, context } = this.election;
    validateAcquireOptions(options, { key, client: context.client });
    const { wait = context.wait, signal } = options;
    const request = { key, options: { wait, signal } };
    return await runWait(context, request, (wait) => this.#elected(wait));
  }

  /** Calls `listener` whenever it begins to lead; if it does now, not about that. The returned function stops that. */
  onLeadership(listener: (leadership: Leadership) => unknown): () => void {
    // One told before may have ended it; then the end has been told, and must not be followed by the beginning.
    return this.#onLeadership.add((leadership) => leadership.isHeld && listener(leadership));
  }

  /**
   * Calls `listener` whenever it leads no longer, with the reason where it was not closed. The returned function stops
   * that.
   */
  onLeadershipLost(listener: (error?: LockLostError) => unknown): () => void {
    return this.#onLeadershipLost.add(listener);
  }

  /**
   * All who stand for election, the leader first, where the servers know them: on Redis the leader only. Rejects as the
   * driver does.
   */
  participants(): Promise<Participant[]> {
    return this.election.participants();
  }

  /** Who leads, as the servers tell. It may be one that has died or has closed a moment ago. Rejects as the driver does. */
  async leader(): Promise<Participant | undefined> {
    return (await this.participants()).find(({ isLeader }) => isLeader);
  }

  /**
   * Stands for election no longer. Idempotent; resolves when others may be elected: when whatever runs under its leadership
   * has ended, so do not await it in there.
   *
   * @param mode does it tell the listeners that it leads no longer, if it did? Curator's `CloseMode`
   */
  async close(mode: 'SILENT' | 'NOTIFY_LEADER' = 'SILENT'): Promise<void> {
    if (this.#state !== 'CLOSED') {
      const didLead = this.hasLeadership;
      this.#state = 'CLOSED';
      this.#withdrawal.abort();
      void this.#term?.lease.withdraw('its latch was closed');
      this.#wake(this.#closed);
      if (didLead && mode === 'NOTIFY_LEADER') this.#onLeadershipLost.tell();
    }
    await this.#campaign;
  }

  /**
   * Resolves when it stands for election no longer after `start`: it was closed, and nothing runs under its leadership any
   * more, or its client was closed.
   *
   * @internal
   */
  get over(): Promise<void> {
    return this.#campaign ?? Promise.resolve();
  }

  /**
   * One more lease on its leadership, if it leads: others are elected after that was released.
   *
   * @internal
   */
  enter(): LeaseHandle | undefined {
    return this.hasLeadership ? new LeaseHandle(this.#term!.lease.hold) : undefined;
  }

  get #closed(): ElectionClosedError {
    const { key, context } = this.election;
    return new ElectionClosedError({ key, client: context.client });
  }

  async #elected(wait: WaitScope): Promise<Leadership> {
    for (;;) {
      if (this.#state === 'CLOSED') throw this.#closed;
      const { leadership } = this;
      if (leadership) return leadership;
      let wake!: (failure?: Error) => void;
      const change = new Promise<Error | undefined>((resolve) => (wake = resolve));
      this.#waiters.add(wake);
      const failure = await wait.until(change).finally(() => this.#waiters.delete(wake));
      if (failure !== undefined) throw failure;
    }
  }

  #wake(failure?: Error): void {
    for (const wake of [...this.#waiters]) wake(failure);
  }

  async #run(): Promise<void> {
    const { signal } = this.#withdrawal;
    while (this.#state === 'STARTED')
      try {
        await this.#reign(await this.election.elect(signal));
      } catch (error) {
        if (signal.aborted) break;
        this.#wake(error as Error);
        if (error instanceof LockClientClosedError) this.#state = 'CLOSED';
        else await waitToStandAgain(this.election, signal);
      }
  }

  /** Leads for as long as what it was elected by is held, in one term or several. */
  async #reign(elected: LeaseHandle): Promise<void> {
    const { signal } = this.#withdrawal;
    try {
      while (elected.isHeld && this.#state === 'STARTED') {
        await untilHealthy(this.election, elected, signal);
        await this.election.confirm(elected, signal);
        // Nothing may come between this look and the term, which looks for itself from then on.
        if (elected.isHeld && this.#state === 'STARTED' && this.election.isHealthy)
          await this.#lead(new LeaderTerm(this.election, elected));
      }
    } finally {
      await elected.release();
    }
  }

  async #lead(term: LeaderTerm): Promise<void> {
    this.#term = term;
    const { hold } = term.lease;
    void term.lease.signal; // made here, it aborts before the listeners are told
    hold.onLost((error) => {
      if (this.#state !== 'CLOSED') this.#onLeadershipLost.tell(error); // who has closed it knows
    });
    this.#onLeadership.tell(term.lease);
    this.#wake();
    await term.over;
    this.#term = undefined;
  }
}
