import { defer, type Observable, ReplaySubject } from 'rxjs';
import type { AcquireOptions, LeaderLatch, Leadership, Lease, Participant } from '../core/index.js';

/** What an app is in an election: `closed` when it takes part no more, as it or its lock client is shut down. */
export type LeaderElectionState = 'follower' | 'leader' | 'closed';

/** An election in which this app takes part: see `LeaderElections.of`. */
export class LeaderElection {
  /** `state`, first as it is, then whenever it changes; completes after `closed`. */
  readonly state$: Observable<LeaderElectionState>;
  readonly #states = new ReplaySubject<LeaderElectionState>(1);
  #told?: LeaderElectionState;
  #latch?: LeaderLatch;
  #hasLeft = false;

  /**
   * @internal
   * @param client name of its lock client
   * @param makeLatch with the class and method that ask, for the message
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

  /** Does this app lead? Asked of the clock at this very moment, so it holds over event-loop stalls too. */
  get isLeader(): boolean {
    return this.#latch?.hasLeadership === true;
  }

  /** `follower` also before the app is up. */
  get state(): LeaderElectionState {
    return this.#look();
  }

  /** What this app leads by, as long as it does. */
  get leadership(): Leadership | undefined {
    return this.#latch?.leadership;
  }

  /**
   * Resolves when this app leads. Do not await it while the app boots: it stands for election afterwards.
   *
   * Rejects as `Lock.acquire` does, also when it cannot stand for election at the moment, and with `ElectionClosedError`.
   */
  async awaitLeadership(options?: AcquireOptions): Promise<Leadership> {
    return await this.join().awaitLeadership(options);
  }

  /** As `LeaderLatch.participants`: all replicas, the leader first; on Redis the leader only. Rejects as the driver does. */
  async participants(): Promise<Participant[]> {
    return await this.join().participants();
  }

  /** Who leads, as the servers tell. Rejects as the driver does. */
  async leader(): Promise<Participant | undefined> {
    return await this.join().leader();
  }

  /**
   * A part of the leadership, if this app leads: others are elected after it was released.
   *
   * @internal
   */
  enter(): Lease | undefined {
    return this.#latch?.enter();
  }

  /**
   * Its latch, made with the first call, when the client is there.
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
   * Others may be elected, after what runs under the leadership has ended.
   *
   * @internal
   */
  leave(): void {
    this.#hasLeft = true;
    void this.#latch?.close('NOTIFY_LEADER');
    this.#look();
  }

  /** Tells a change. */
  #look(): LeaderElectionState {
    const state = this.#state;
    if (state === this.#told) return state;
    this.#told = state;
    this.#states.next(state);
    if (state === 'closed') this.#states.complete();
    return state;
  }

  get #state(): LeaderElectionState {
    if (this.#hasLeft || this.#latch?.state === 'CLOSED') return 'closed';
    return this.isLeader ? 'leader' : 'follower';
  }
}
