import { defer, type Observable, ReplaySubject } from 'rxjs';
import type { AcquireOptions, LeaderLatch, Leadership, Lease, Participant } from '../core/index.js';
import { LeaseScope } from '../core/internal/lease-scope.js';

/** State of an app in an election: `closed` once it no longer takes part, because it or its lock client was shut down. */
export type LeaderElectionState = 'follower' | 'leader' | 'closed';

/** An election in which this app takes part: see `LeaderElections.of`. */
export class LeaderElection {
  /** Emits the current `state`, then every change; completes after `closed`. */
  readonly state$: Observable<LeaderElectionState>;
  readonly #states = new ReplaySubject<LeaderElectionState>(1);
  #told?: LeaderElectionState;
  #latch?: LeaderLatch;
  #hasLeft = false;

  /**
   * @internal
   * @param client name of its lock client
   * @param makeLatch called with the class and method of the caller, for the message
   */
  constructor(
    readonly name: string,
    readonly client: string,
    private readonly makeLatch: (method?: string) => LeaderLatch,
  ) {
    this.state$ = defer(() => {
      this.#look();
      return this.#states;
    });
  }

  /** True if this app leads. Checked against the clock on each access, so it is correct even after an event-loop stall. */
  get isLeader(): boolean {
    return this.#latch?.hasLeadership === true;
  }

  /** Current state; `follower` also before the app is up. */
  get state(): LeaderElectionState {
    return this.#look();
  }

  /** The leadership, while this app leads. */
  get leadership(): Leadership | undefined {
    return this.#latch?.leadership;
  }

  /**
   * Resolves when this app leads. Do not await it in a hook of the boot: the app stands for election only after all of them.
   *
   * Rejects as `Lock.acquire` does, also if the app cannot stand for election at the moment, and with `ElectionClosedError`.
   */
  async awaitLeadership(options?: AcquireOptions): Promise<Leadership> {
    return await this.join().awaitLeadership(options);
  }

  /** As `LeaderLatch.participants`: all replicas, the leader first; on Redis the leader only. Rejects as the driver does. */
  async participants(): Promise<Participant[]> {
    return await this.join().participants();
  }

  /** The current leader according to the servers. Rejects as the driver does. */
  async leader(): Promise<Participant | undefined> {
    return await this.join().leader();
  }

  /**
   * Returns another lease on the leadership if this app leads: other participants can be elected after its release.
   *
   * @internal
   */
  enter(): Lease | undefined {
    return this.#latch?.enter();
  }

  /**
   * Returns the latch; the first call creates it and needs a connected client.
   *
   * @internal
   * @throws LockClientUnknownError, LockConnectionError, LockKeyError
   */
  join(method?: string): LeaderLatch {
    if (this.#latch) return this.#latch;
    const latch = (this.#latch = this.makeLatch(method));
    latch.onLeadership(() => this.#look());
    latch.onLeadershipLost(() => this.#look());
    if (this.#hasLeft) void latch.close();
    return latch;
  }

  /** @internal */
  start(): void {
    const latch = this.join();
    if (latch.state !== 'LATENT') return;
    latch.start();
    void latch.over.then(() => this.#look());
  }

  /**
   * Leaves the election: other participants may be elected after the runs under the leadership have ended.
   *
   * @internal
   */
  leave(): void {
    this.#hasLeft = true;
    void this.#latch?.close('NOTIFY_LEADER');
    this.#look();
  }

  /** Returns the state, and emits it if it has changed. */
  #look(): LeaderElectionState {
    const state = this.#state;
    if (state === this.#told) return state;
    this.#told = state;
    // Whoever looks may do so under a lock, which is none of the subscribers' business.
    LeaseScope.runOutside(() => {
      this.#states.next(state);
      if (state === 'closed') this.#states.complete();
    });
    return state;
  }

  get #state(): LeaderElectionState {
    if (this.#hasLeft || this.#latch?.state === 'CLOSED') return 'closed';
    return this.isLeader ? 'leader' : 'follower';
  }
}
