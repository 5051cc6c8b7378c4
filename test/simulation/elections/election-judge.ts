import type { LeaseHandle } from '../../../lib/core/internal/lease-handle.js';
import type { Leadership } from '../../../lib/core/election/leader-term.js';
import type { Lease } from '../../../lib/core/lease.js';
import { ExclusionRule } from '../exclusion-rule.js';
import type { LockQueue } from '../lock-queue.js';
import type { ObservedHold } from '../observed-hold.js';
import type { QueuedNode } from '../queued-node.js';
import type { SimulatedClient } from '../simulated-client.js';
import { Times } from '../times.js';
import type { World, WorldObserver } from '../world.js';
import { AwaitingRule } from './awaiting-rule.js';
import { Candidate, type CandidateOptions } from './candidate.js';
import { ElectionProgress } from './election-progress.js';
import { electionRule } from './election-rule.js';

/** Receives what the candidates of an election see, and compares it with what an election promises. */
export class ElectionJudge implements WorldObserver {
  readonly lasting = 0;
  readonly queue: LockQueue;
  readonly awaiting: AwaitingRule;
  readonly #candidates = new Map<string, Candidate>();
  readonly #exclusion: ExclusionRule;
  readonly #progress: ElectionProgress;
  #lastId = 0;

  constructor(
    private readonly world: World,
    directory: string,
  ) {
    const { clock, history, isAsking } = world;
    this.#exclusion = new ExclusionRule(() => clock.now(), history, isAsking);
    this.awaiting = new AwaitingRule(() => clock.now(), history);
    this.queue = world.observe(directory, electionRule);
    this.queue.onAdded = (node) => this.#queued(node);
    this.#progress = new ElectionProgress(world, this.queue, this.#candidates);
    world.observers.push(this);
  }

  /** Whether there is a leader with a live process. */
  get isLed(): boolean {
    return this.#progress.isLed;
  }

  /** The clients of the leaders. */
  get leaders(): readonly SimulatedClient[] {
    const leading = [...this.#candidates.values()].filter(({ liveHold }) => liveHold);
    return leading.map(({ options }) => options.client);
  }

  /** Adds a candidate that may stand. */
  announce(options: CandidateOptions): Candidate {
    const candidate = new Candidate(options);
    this.#candidates.set(options.id, candidate);
    return candidate;
  }

  /** The candidate is about to be started, or queued again. */
  stands(candidate: Candidate): void {
    candidate.standsSince = candidate.changedAt = this.#now;
    this.world.history.note('stands', candidate.options.id);
  }

  /** The candidate is notified that it leads. */
  leads(candidate: Candidate, leadership: Leadership): void {
    const { client, id, errorPolicy } = candidate.options;
    const node = candidate.node ?? candidate.nodes.at(-1);
    if (node === undefined) return this.#accuse(`${id} leads without a node`);
    if (!candidate.isStanding) this.#accuse(`${id} leads although it does not stand`);
    if (candidate.liveHold) this.#accuse(`${id} is notified twice that it leads`);
    if (node.goneAt !== undefined && node.goneAt < client.connectedAt)
      this.#accuse(`${id} leads on a node that was gone before the connection was there`);
    if (errorPolicy === 'standard' && !client.connection.isConnected)
      this.#accuse(`${id} begins to lead while the connection is interrupted`);
    const hold: ObservedHold = {
      id: ++this.#lastId,
      client,
      lock: this,
      queue: this.queue,
      nodes: [node],
      parts: [],
      grantedAt: this.#now,
      watched: new Set(node.writtenAt === undefined ? [node] : []), // a leader has asked the servers for its node
      leases: new Set([leadership as Lease]),
    };
    this.world.history.note('leads', `${id} as hold ${hold.id} on ${node.path}`);
    candidate.hold = hold;
    candidate.leadership = leadership;
    this.#exclusion.granted(hold);
    this.#listen(candidate, hold, leadership as Lease);
    if (hold.lostAt !== undefined) this.#accuse(`${id} is notified that it leads when it does not`);
  }

  /** Work starts under its leadership; the returned function ends it. */
  entered(candidate: Candidate, lease: LeaseHandle): () => void {
    const { history } = this.world;
    const hold = candidate.liveHold;
    if (!hold) {
      this.#accuse(`${candidate.options.id} starts work although it does not lead`);
      return () => {};
    }
    history.note('entered', `hold ${hold.id}`);
    hold.leases.add(lease);
    this.#listen(candidate, hold, lease);
    return () => this.#gaveBack(candidate, hold, lease);
  }

  /** The work of its leadership has ended. @param goesOn whether it stands again by itself */
  hasLed(candidate: Candidate, goesOn: boolean): void {
    const { hold, leadership } = candidate;
    if (hold) this.#gaveBack(candidate, hold, leadership as Lease);
    candidate.changedAt = this.#now;
    candidate.nodes.length = 0;
    if (!goesOn) candidate.standsSince = Times.never;
  }

  /** Checks that it gets its own token, and not that of another. */
  async fenced(candidate: Candidate): Promise<void> {
    const { hold, leadership } = candidate;
    try {
      if ((await leadership!.fencingToken()) !== BigInt(hold!.nodes[0]!.token))
        this.#accuse(`hold ${hold!.id} has a token not its own`);
      this.world.history.note('fenced', `hold ${hold!.id}`);
    } catch (error) {
      if (leadership!.isHeld) this.#accuse(`hold ${hold!.id} has no token: ${String(error)}`);
    }
  }

  /** It is about to be closed; call the returned function once it reports that it is. */
  closes(candidate: Candidate): () => void {
    const { client, id } = candidate.options;
    const closedAt = this.#now;
    const { liveHold: hold, leadership } = candidate;
    candidate.standsSince = Times.never;
    candidate.changedAt = closedAt;
    if (hold) this.#gaveBack(candidate, hold, leadership as Lease);
    this.world.history.note('closed', id);
    return () => {
      if (hold && !leadership!.signal.aborted)
        this.#accuse(`${id} is closed, and does not notify its listeners`);
      const left = hold?.nodes.some(({ goneAt }) => goneAt === undefined);
      if (left && client.calmSince < closedAt) this.#accuse(`${id} is closed and leaves its node`);
      if (candidate.liveHold || candidate.isBusy)
        this.#accuse(`${id} is closed while something goes on under its leadership`);
    };
  }

  check(): void {
    this.#exclusion.check();
    for (const candidate of this.#candidates.values()) this.#checkWord(candidate);
    this.awaiting.check();
    this.#progress.check();
  }

  stop(): void {}

  get #now(): number {
    return this.world.clock.now();
  }

  #accuse(what: string): void {
    this.world.history.accuse(what);
  }

  #queued(node: QueuedNode): void {
    const candidate = this.#candidates.get(node.data);
    if (!candidate) return this.#accuse(`${node.path} belongs to no candidate`);
    const { nodes, options } = candidate;
    this.world.history.note(nodes.length > 0 ? 'queued again' : 'queued', node.path);
    if (nodes.some(({ goneAt, owner }) => goneAt === undefined && owner === node.owner))
      this.#accuse(`${options.id} has two nodes in one session`);
    nodes.push(node);
  }

  /** Compares what it reports of itself with its notifications. */
  #checkWord(candidate: Candidate): void {
    const { hold, leadership, options } = candidate;
    const { client, id, errorPolicy, hasLeadership } = options;
    const { isAsking, clock } = this.world;
    const { isRunning, thawedAt } = client.process;
    if (!hold || !isRunning || !(isAsking || thawedAt < clock.now())) return; // if it is not asked, it needs a turn of its own first
    if (isAsking && hasLeadership() && !candidate.liveHold)
      this.#accuse(`${id} says that it leads although it was notified that it does not`);
    if (!hold.leases.has(leadership as Lease) && leadership!.isHeld)
      this.#accuse(`${id} leads again by a leadership that it has released`);
    const mustBeTold = candidate.isTold && candidate.isStanding;
    if (hold.lostAt !== undefined && (leadership!.isHeld || mustBeTold))
      this.#accuse(`${id} is not notified that it does not lead any more`);
    if (candidate.liveHold && errorPolicy === 'standard' && !client.connection.isConnected)
      this.#accuse(`${id} leads although the connection is interrupted`);
  }

  #gaveBack(candidate: Candidate, hold: ObservedHold, lease: Lease): void {
    if (!hold.leases.delete(lease) || hold.leases.size > 0) return;
    hold.releasedAt = this.#now;
    if (hold.endedAt !== undefined) return;
    hold.endedAt = candidate.changedAt = this.#now;
    this.#exclusion.ended(hold);
    this.world.history.note('released', `hold ${hold.id}`);
  }

  #listen(candidate: Candidate, hold: ObservedHold, lease: Lease): void {
    const { signal } = lease;
    const lose = () => {
      if (hold.endedAt !== undefined || !hold.leases.has(lease)) return;
      hold.lostAt = hold.endedAt = candidate.changedAt = this.#now;
      this.#exclusion.ended(hold);
      this.world.history.note('lost', `hold ${hold.id}`);
    };
    if (signal.aborted) lose();
    else signal.addEventListener('abort', lose);
  }
}
