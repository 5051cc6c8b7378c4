import { defer, ReplaySubject, type Observable } from 'rxjs';
import type {
  AcquireOptions,
  LeaderLatch,
  Leadership,
  Lease,
  LockClient,
  LockLostError,
  Participant,
} from './core/index.js';

/** What an app is in an election: `closed` when it takes part no more, as it or its lock client is shut down. */
export type LeaderElectionState = 'follower' | 'leader' | 'closed';

/** An election in which this app takes part: see `LeaderElections.of`. */
export class LeaderElection {
  /** Name of its lock client. */
  readonly client: string;
  /** `state`, first as it is, then whenever it changes; completes after `closed`. */
  readonly state$: Observable<LeaderElectionState>;
  readonly #states = new ReplaySubject<LeaderElectionState>(1);
  #told?: LeaderElectionState;
  readonly #stops: (() => void)[];

  /** @internal */
  constructor(
    private readonly latch: LeaderLatch,
    client: LockClient,
  ) {
    this.client = client.name;
    this.state$ = defer(() => {
      this.#look();
      return this.#states;
    });
    const look = () => void this.#look();
    this.#stops = [
      latch.onLeadership(look),
      latch.onLeadershipLost(look),
      client.on('connection', look), // the end of the client is the last of them
    ];
  }

  get name(): string {
    return this.latch.key;
  }

  /** Does this app lead? Asked of the clock at this very moment, so it holds over event-loop stalls too. */
  get isLeader(): boolean {
    return this.latch.hasLeadership;
  }

  /** `follower` also before the app is up. */
  get state(): LeaderElectionState {
    return this.#look();
  }

  /** What this app leads by, as long as it does. */
  get leadership(): Leadership | undefined {
    return this.latch.leadership;
  }

  /**
   * Resolves when this app leads. Do not await it while the app boots: it stands for election afterwards.
   *
   * Rejects as `Lock.acquire` does, also when it cannot stand for election at the moment, and with `ElectionClosedError`.
   */
  awaitLeadership(options?: AcquireOptions): Promise<Leadership> {
    return this.latch.awaitLeadership(options);
  }

  /** As `LeaderLatch.participants`: all replicas, the leader first; on Redis the leader only. Rejects as the driver does. */
  participants(): Promise<Participant[]> {
    return this.latch.participants();
  }

  /** Who leads, as the servers tell. Rejects as the driver does. */
  leader(): Promise<Participant | undefined> {
    return this.latch.leader();
  }

  /**
   * A part of the leadership, if this app leads: others are elected after it was released.
   *
   * @internal
   */
  enter(): Lease | undefined {
    return this.latch.enter();
  }

  /** @internal */
  start(): void {
    if (this.latch.state === 'LATENT') this.latch.start();
  }

  /**
   * Others may be elected, after what runs under the leadership has ended.
   *
   * @internal
   */
  leave(): void {
    void this.latch.close('NOTIFY_LEADER');
    this.#look();
  }

  /** @internal */
  onLeadership(listener: (leadership: Leadership) => unknown): void {
    this.latch.onLeadership(listener);
  }

  /** @internal */
  onLeadershipLost(listener: (error?: LockLostError) => unknown): void {
    this.latch.onLeadershipLost(listener);
  }

  /** Tells a change. */
  #look(): LeaderElectionState {
    const state = this.#state;
    if (state === this.#told) return state;
    this.#told = state;
    this.#states.next(state);
    if (state !== 'closed') return state;
    for (const stop of this.#stops) stop();
    this.#states.complete();
    return state;
  }

  get #state(): LeaderElectionState {
    if (this.latch.state === 'CLOSED') return 'closed';
    return this.latch.hasLeadership ? 'leader' : 'follower';
  }
}
