import { setTimeout as delay } from 'node:timers/promises';
import type { Participant } from '../../../lib/core/election/election-backend.js';
import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { TestClient } from '../../faults/support/test-client.js';
import { Deferred, eventually } from '../../support/time.js';
import type { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import type { Peer } from '../support/peer.js';
import { startCuratorPeer, startNodePeer } from '../support/start-peers.js';
import { ClaimHistory, type Term } from './history.js';
import { LineObserver } from './observers.js';

/** Result of an election of Node and Java processes of which the leaders were killed and frozen. */
export interface ElectionReport {
  readonly terms: readonly Term[];
  readonly claims: number;
  /** As text. */
  readonly faults: readonly string[];
  /** Older claims of frozen Java processes, which only the token reveals. */
  readonly unknowing: number;
  readonly kills: number;
  readonly freezes: number;
  /** How long there was no leader after each of them, in ms. */
  readonly vacancies: readonly number[];
  /** What the candidates saw last, unless all of them stood in the end, and all saw the same leader. */
  readonly dissent: readonly string[];
  /** Nodes that were left after all had closed. */
  readonly leftBehind: readonly string[];
}

const PATH = '/election';
/** Time in ms between two strikes, each of which kills or freezes the leader. */
const INTERVAL = 3_000;
const PATIENCE = { within: 60_000 };

/** How an election is run. */
export interface ElectionPlan {
  /** Number of processes of each language. */
  readonly size: number;
  /** `sessionTimeout` of all candidates, in ms. */
  readonly sessionTimeout: number;
  /** How many leaders are killed and frozen in total. */
  readonly strikes: number;
}

/**
 * Node and Java processes, each a candidate of one leader latch, of which the leaders are killed and frozen in
 * turn.
 */
export class ElectionFleet {
  private readonly history = new ClaimHistory();
  private readonly peers = new Map<string, Peer>();
  private readonly vacancies: number[] = [];
  /** Replacements of killed processes. */
  private readonly starts: Promise<void>[] = [];
  private observer!: LineObserver;
  /** The worker that is held up at the next claim of that term. */
  private stop?: { readonly term: Term; hasClaimed: boolean; readonly thawed: Deferred };

  private constructor(
    private readonly ensemble: ZooKeeperEnsemble,
    private readonly stranger: TestClient,
    private readonly sessionTimeout: number,
  ) {}

  /** Kills and freezes that many leaders, in turn. */
  static async run(
    ensemble: ZooKeeperEnsemble,
    { size, sessionTimeout, strikes }: ElectionPlan,
  ): Promise<ElectionReport> {
    const stranger = await TestClient.connect(ensemble.connectString, { sessionTimeout: 30_000 });
    const fleet = new ElectionFleet(ensemble, stranger, sessionTimeout);
    try {
      await fleet.start(size);
      return await fleet.strike(strikes);
    } finally {
      await fleet.end();
    }
  }

  private async start(size: number): Promise<void> {
    // It stays until the end, so that the report can show what is left in it.
    await this.stranger.connection.create(PATH, Buffer.alloc(0), CreateMode.PERSISTENT);
    this.observer = await LineObserver.start((...line) => this.note(...line));
    const names = Array.from({ length: size }, (_, n) => [`node${n + 1}`, `java${n + 1}`]).flat();
    await Promise.all(names.map((name) => this.startPeer(name)));
    for (const [n, name] of names.entries()) {
      this.stand(name);
      await this.stranger.queue(PATH, n + 1);
    }
  }

  private async strike(strikes: number): Promise<ElectionReport> {
    await eventually('one worker leads', () => this.leader, PATIENCE);
    let next = performance.now();
    for (let n = 0; n < strikes; n++) {
      next = Math.max(next + INTERVAL, performance.now());
      await delay(next - performance.now());
      // In this order, because the languages take turns: each of them is killed, and frozen.
      await (n % 4 === 0 || n % 4 === 3 ? this.kill() : this.freeze());
    }
    await Promise.all(this.starts);
    const dissent = await this.dissent();
    await Promise.all([...this.peers].map(([name, peer]) => election(peer, name).close()));
    const { terms, claims, faults, unknowing } = this.history;
    return {
      ...{ terms, claims, faults, unknowing, dissent },
      kills: this.starts.length,
      freezes: strikes - this.starts.length,
      vacancies: this.vacancies,
      leftBehind: await this.leftBehind(),
    };
  }

  private async end(): Promise<void> {
    this.stop?.thawed.resolve(); // after a failure
    await Promise.allSettled(this.starts);
    await Promise.all([...this.peers.values()].map((peer) => peer.stop()));
    await this.observer?.stop();
    await this.stranger.connection.delete(PATH).catch(() => {}); // not empty after a failure
    await this.stranger.locks.close();
  }

  private async startPeer(name: string): Promise<void> {
    const { connectString } = this.ensemble;
    const peer = name.startsWith('node')
      ? await startNodePeer(connectString, this.sessionTimeout)
      : await startCuratorPeer('5.9.0', connectString, this.sessionTimeout);
    this.peers.set(name, peer);
  }

  /** Has that process stand for election. */
  private stand(name: string): void {
    election(this.peers.get(name)!, name)
      .stand(this.observer.port, name)
      .catch(() => {}); // killed; any other end is noticed, because the candidate is missing then
  }

  private async note(worker: string, event: string, argument: string): Promise<void> {
    if (event === 'lost') return this.history.lost(worker);
    const token = BigInt(argument);
    this.history.claim(worker, token);
    const { stop } = this;
    if (stop?.term.worker !== worker || stop.term.token !== token) return;
    stop.hasClaimed = true;
    await stop.thawed.promise;
  }

  private async kill(): Promise<void> {
    const leader = this.leader!;
    const vacancy = this.vacancyAfter(leader);
    await this.peers.get(leader.worker)!.stop();
    await vacancy;
    this.starts.push(this.startPeer(leader.worker).then(() => this.stand(leader.worker)));
  }

  /** Freezes the leader until another one leads. */
  private async freeze(): Promise<void> {
    const { term, thawed } = await this.holdUp();
    const peer = this.peers.get(term.worker)!;
    peer.freeze();
    await this.vacancyAfter(term);
    this.stop = undefined;
    if (term.worker.startsWith('java')) this.history.excuse(term.worker); // Curator does not check the clock
    peer.thaw();
    thawed.resolve();
  }

  /** Makes the leader wait until its claim is recorded, so that none is under way. */
  private async holdUp() {
    for (;;) {
      const stop = { term: this.leader!, hasClaimed: false, thawed: new Deferred() };
      this.stop = stop;
      const isOver = () => stop.hasClaimed || this.leader !== stop.term;
      await eventually('it claims once more', isOver, PATIENCE);
      if (this.leader === stop.term) return stop;
      stop.thawed.resolve(); // it has lost its session by itself
    }
  }

  /** Resolves when another worker leads after that term, and records how long that took. */
  private async vacancyAfter(leader: Term): Promise<void> {
    const since = performance.now();
    await eventually('another worker leads', () => this.leader !== leader, PATIENCE);
    this.vacancies.push(Math.round(performance.now() - since));
  }

  private get leader(): Term | undefined {
    return this.history.terms.at(-1);
  }

  /**
   * Empty as soon as every candidate sees all of them, and the same leader. One look is not enough: a server may lag behind the one
   * that was asked before it, and a candidate that loses its session under load stands again.
   */
  private async dissent(): Promise<string[]> {
    const names = [...this.peers.keys()].sort();
    let views: Participant[][] = [];
    const isWhole = async () => {
      views = await Promise.all(
        [...this.peers].map(([name, peer]) => election(peer, name).participants()),
      );
      return views.every((view) => {
        const leaders = view.filter(({ isLeader }) => isLeader).map(({ id }) => id);
        const ids = view.map(({ id }) => id).sort();
        return leaders.join() === views[0]![0]?.id && ids.join() === names.join();
      });
    };
    const whole = eventually('all stand, and see the same leader', isWhole, PATIENCE);
    return whole.then(
      () => [],
      () => views.map((view) => view.map(participantText).join(' ')),
    );
  }

  /** Curator removes its node in the background; the processes and their sessions are still there. */
  private async leftBehind(): Promise<string[]> {
    let left: string[] = [];
    const isEmpty = async () => (left = await this.stranger.children(PATH)).length === 0;
    await eventually('nothing is left behind', isEmpty).catch(() => {});
    return left;
  }
}

function participantText({ id, isLeader }: Participant): string {
  return isLeader ? `${id} (leader)` : id;
}

function election(peer: Peer, name: string) {
  return peer.election(`latch#${name}:${PATH}`);
}
