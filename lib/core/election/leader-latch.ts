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
 * Takes part in an election from `start` to `close`, and leads whenever it is elected: of all latches of the key, the one
 * that has queued the longest. Curator's class of that name; on ZooKeeper compatible with it on the wire.
 *
 * Invariant: it has leadership only while the lease it was elected by is held (see `Lease`), the connection is up (see
 * `errorPolicy`), and after every interruption only when the servers have confirmed it.
 */
export class LeaderLatch {
  #state: 'LATENT' | 'STARTED' | 'CLOSED' = 'LATENT';
  #term?: LeaderTerm;
  #campaign?: Promise<void>;
  readonly #withdrawal = new AbortController();
  readonly #onLeadership: Listeners<[Leadership]>;
  readonly #onLeadershipLost: Listeners<[LockLostError?]>;
  /** Called when a new term begins, or with the reason why none can. */
  readonly #waiters = new Set<(failure?: Error) => void>();

  constructor(private readonly election: ElectionBackend) {
    const what = `the election ${JSON.stringify(election.key)}`;
    this.#onLeadership = new Listeners(what);
    this.#onLeadershipLost = new Listeners(what);
  }

  get key(): string {
    return this.election.key;
  }

  /** Id of this participant. */
  get id(): string {
    return this.election.id;
  }

  /** `LATENT` before `start`; `CLOSED` after `close` of the latch or of its client. */
  get state(): 'LATENT' | 'STARTED' | 'CLOSED' {
    return this.#state;
  }

  /** Whether it leads. Each read checks the clock, so it is correct after event-loop stalls too. */
  get hasLeadership(): boolean {
    return this.#term?.lease.isHeld === true;
  }

  /** The current leadership, while it leads. */
  get leadership(): Leadership | undefined {
    return this.hasLeadership ? this.#term!.lease : undefined;
  }

  /**
   * Joins the election in the background; failures are emitted as the event `failed` and retried. Idempotent.
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
   * Rejects as `Lock.acquire` does, also when it cannot join the election at the moment, and with `ElectionClosedError`.
   */
  async awaitLeadership(options: AcquireOptions = {}): Promise<Leadership> {
    const { key, context } = this.election;
    validateAcquireOptions(options, { key, client: context.client });
    const { wait = context.wait, signal } = options;
    const request = { key, options: { wait, signal } };
    return await runWait(context, request, (wait) => this.#elected(wait));
  }

  /** Calls `listener` whenever it begins to lead, but not for a current leadership. The returned function removes it. */
  onLeadership(listener: (leadership: Leadership) => unknown): () => void {
    // An earlier listener may have ended the leadership. Its end has been reported then; its start must not follow.
    return this.#onLeadership.add((leadership) => leadership.isHeld && listener(leadership));
  }

  /**
   * Calls `listener` whenever it no longer leads, with the reason unless it was closed. The returned function removes the
   * listener.
   */
  onLeadershipLost(listener: (error?: LockLostError) => unknown): () => void {
    return this.#onLeadershipLost.add(listener);
  }

  /**
   * Lists the participants, the leader first, as far as the servers know them: on Redis only the leader. Rejects as the
   * driver does.
   */
  participants(): Promise<Participant[]> {
    return this.election.participants();
  }

  /** The leader, according to the servers; it may have died or closed a moment ago. Rejects as the driver does. */
  async leader(): Promise<Participant | undefined> {
    return (await this.participants()).find(({ isLeader }) => isLeader);
  }

  /**
   * Leaves the election. Idempotent; resolves when another participant may be elected: when all work under its leadership
   * has ended, so do not await it inside such work.
   *
   * @param mode whether to call the `onLeadershipLost` listeners if it led; Curator's `CloseMode`
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
   * Resolves when it has left the election after `start`: it was closed and no work runs under its leadership any more, or
   * its client was closed.
   *
   * @internal
   */
  get over(): Promise<void> {
    return this.#campaign ?? Promise.resolve();
  }

  /**
   * Another lease on its leadership, if it leads: no other participant is elected before that is released.
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
    const candidate = { key: this.key, close: () => this.close('NOTIFY_LEADER') };
    const leave = this.election.context.candidates.add(candidate);
    while (this.#state === 'STARTED')
      try {
        await this.#reign(await this.election.elect(signal));
      } catch (error) {
        if (signal.aborted) break;
        this.#wake(error as Error);
        if (error instanceof LockClientClosedError) this.#state = 'CLOSED';
        else await waitToStandAgain(this.election, signal);
      }
    leave();
  }

  /** Leads for as long as the lease it was elected by is held, in one or several terms. */
  async #reign(elected: LeaseHandle): Promise<void> {
    const { signal } = this.#withdrawal;
    try {
      while (elected.isHeld && this.#state === 'STARTED') {
        await untilHealthy(this.election, elected, signal);
        await this.election.confirm(elected, signal);
        // Nothing may run between this check and the creation of the term, which checks for itself from then on.
        if (elected.isHeld && this.#state === 'STARTED' && this.election.isHealthy)
          await this.#lead(new LeaderTerm(this.election, elected));
      }
    } finally {
      await elected.hold.idle(); // it may have been withdrawn, or the latch closed, while work goes on
      await elected.release();
    }
  }

  async #lead(term: LeaderTerm): Promise<void> {
    this.#term = term;
    const { hold } = term.lease;
    void term.lease.signal; // created here, so that it aborts before the listeners are called
    hold.onLost((error) => {
      if (this.#state !== 'CLOSED') this.#onLeadershipLost.tell(error); // `close` notifies by itself
    });
    this.#onLeadership.tell(term.lease);
    this.#wake();
    await term.over;
    this.#term = undefined;
    void hold.idle().then(() => term.lease.release()); // a term that was withdrawn counts as held until then
  }
}
