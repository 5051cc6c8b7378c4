import type { Leadership } from '../../lib/core/election/leader-term.js';
import type { LeaseHandle } from '../../lib/core/internal/lease-handle.js';
import type { Lease } from '../../lib/core/lease.js';
import type { SimulatedClient } from './client.js';
import type { LockQueue, QueuedNode, QueueRule } from './lock-queue.js';
import { mutexRule } from './locks.js';
import { Observer } from './observer.js';
import type { ObservedHold } from './operation.js';
import { ExclusionRule } from './rules.js';
import { Patience, Times, Timing } from './timing.js';
import type { World } from './world.js';

export interface CandidateOptions {
  readonly id: string;
  readonly client: SimulatedClient;
  readonly errorPolicy: 'standard' | 'session';
  /** What it reports of itself. */
  readonly hasLeadership: () => boolean;
}

/** A latch or selector, as its users and the server see it. */
export class Candidate {
  /** Since when it stands for election; `Infinity` if it does not. */
  standsSince = Times.never;
  changedAt = 0;
  /** The hold that it leads by, or last led by. */
  hold?: ObservedHold;
  leadership?: Leadership;
  /** True from the notification of its listeners that it leads until the one that it does not lead any more. */
  isTold = false;
  /** True while work runs that keeps its node where it is, leadership or not. */
  isBusy = false;
  /** Nodes made for it since it last released one. */
  readonly nodes: QueuedNode[] = [];

  constructor(readonly options: CandidateOptions) {}

  get isStanding(): boolean {
    return this.standsSince < Times.never;
  }

  /** The hold that it leads by now, as far as it has reported. */
  get liveHold(): ObservedHold | undefined {
    return this.hold?.endedAt === undefined ? this.hold : undefined;
  }

  get node(): QueuedNode | undefined {
    const session = this.options.client.connection.session?.id;
    return this.nodes.findLast(({ owner }) => owner === session);
  }

  get vanishedAt(): number {
    return Times.latest(0, ...this.nodes.map(({ goneAt = 0 }) => goneAt));
  }
}

/** Only the first node leads; after an interruption it may lead again, on the same node. */
export const electionRule: QueueRule = {
  ...mutexRule,
  mayFollow: (later, earlier) => later.token >= earlier.token,
};

/** Receives what the candidates of an election see, and compares it with what an election promises. */
export class ElectionJudge extends Observer {
  readonly queue: LockQueue;
  readonly awaiting: AwaitingRule;
  readonly #candidates = new Map<string, Candidate>();
  readonly #exclusion: ExclusionRule;
  readonly #progress: ElectionProgress;
  #lastId = 0;

  constructor(world: World, directory: string) {
    super(world);
    this.#exclusion = new ExclusionRule(world);
    this.awaiting = new AwaitingRule(world);
    this.queue = world.observe(directory, electionRule);
    this.queue.onAdded = (node) => this.#queued(node);
    this.#progress = new ElectionProgress(world, this.queue, this.#candidates);
    world.observers.push(this);
  }

  /** Whether there is a leader with a live process. */
  get isLed(): boolean {
    return this.#progress.isLed;
  }

  get leaders(): readonly SimulatedClient[] {
    const leading = [...this.#candidates.values()].filter(({ liveHold }) => liveHold);
    return leading.map(({ options }) => options.client);
  }

  announce(options: CandidateOptions): Candidate {
    const candidate = new Candidate(options);
    this.#candidates.set(options.id, candidate);
    return candidate;
  }

  /** The candidate is about to be started, or queued again. */
  stands(candidate: Candidate): void {
    candidate.standsSince = candidate.changedAt = this.now;
    this.note('stands', candidate.options.id);
  }

  leads(candidate: Candidate, leadership: Leadership): void {
    const { client, id, errorPolicy } = candidate.options;
    const node = candidate.node ?? candidate.nodes.at(-1);
    if (node === undefined) return this.accuse(`${id} leads without a node`);
    if (!candidate.isStanding) this.accuse(`${id} leads although it does not stand`);
    if (candidate.liveHold) this.accuse(`${id} is notified twice that it leads`);
    if (node.goneAt !== undefined && node.goneAt < client.connectedAt)
      this.accuse(`${id} leads on a node that was gone before the connection was there`);
    if (errorPolicy === 'standard' && !client.connection.isConnected)
      this.accuse(`${id} begins to lead while the connection is interrupted`);
    const hold: ObservedHold = {
      id: ++this.#lastId,
      client,
      lock: this,
      queue: this.queue,
      nodes: [node],
      parts: [],
      grantedAt: this.now,
      servedAt: this.now,
      watched: new Set(node.writtenAt === undefined ? [node] : []), // a leader has asked the servers for its node
      leases: new Set([leadership as Lease]),
    };
    this.note('leads', `${id} as hold ${hold.id} on ${node.path}`);
    candidate.hold = hold;
    candidate.leadership = leadership;
    this.#exclusion.granted(hold);
    this.#listen(candidate, hold, leadership as Lease);
    if (hold.lostAt !== undefined) this.accuse(`${id} is notified that it leads when it does not`);
  }

  /** Work starts under its leadership; the returned function ends it. */
  entered(candidate: Candidate, lease: LeaseHandle): () => void {
    const hold = candidate.liveHold;
    if (!hold) {
      this.accuse(`${candidate.options.id} starts work although it does not lead`);
      return () => {};
    }
    this.note('entered', `hold ${hold.id}`);
    hold.leases.add(lease);
    this.#listen(candidate, hold, lease);
    return () => this.#gaveBack(candidate, hold, lease);
  }

  /** The work of its leadership has ended. @param goesOn whether it stands again by itself */
  hasLed(candidate: Candidate, goesOn: boolean): void {
    const { hold, leadership } = candidate;
    if (hold) this.#gaveBack(candidate, hold, leadership as Lease);
    candidate.changedAt = this.now;
    candidate.nodes.length = 0;
    if (!goesOn) candidate.standsSince = Times.never;
  }

  /** Checks that it gets its own token, and not that of another. */
  async fenced(candidate: Candidate): Promise<void> {
    const { hold, leadership } = candidate;
    try {
      if ((await leadership!.fencingToken()) !== BigInt(hold!.nodes[0]!.token))
        this.accuse(`hold ${hold!.id} has a token not its own`);
      this.note('fenced', `hold ${hold!.id}`);
    } catch (error) {
      if (leadership!.isHeld) this.accuse(`hold ${hold!.id} has no token: ${String(error)}`);
    }
  }

  /** It is about to be closed; call the returned function once it reports that it is. */
  closes(candidate: Candidate): () => void {
    const { client, id } = candidate.options;
    const closedAt = this.now;
    const { liveHold: hold, leadership } = candidate;
    candidate.standsSince = Times.never;
    candidate.changedAt = closedAt;
    if (hold) this.#gaveBack(candidate, hold, leadership as Lease);
    this.note('closed', id);
    return () => {
      if (hold && !leadership!.signal.aborted)
        this.accuse(`${id} is closed, and does not notify its listeners`);
      const left = hold?.nodes.some(({ goneAt }) => goneAt === undefined);
      if (left && client.calmSince < closedAt) this.accuse(`${id} is closed and leaves its node`);
      if (candidate.liveHold || candidate.isBusy)
        this.accuse(`${id} is closed while something goes on under its leadership`);
    };
  }

  override check(): void {
    this.#exclusion.check();
    for (const candidate of this.#candidates.values()) this.#checkWord(candidate);
    this.awaiting.check();
    this.#progress.check();
  }

  #queued(node: QueuedNode): void {
    const candidate = this.#candidates.get(node.data);
    if (!candidate) return this.accuse(`${node.path} belongs to no candidate`);
    const { nodes, options } = candidate;
    this.note(nodes.length > 0 ? 'queued again' : 'queued', node.path);
    if (nodes.some(({ goneAt, owner }) => goneAt === undefined && owner === node.owner))
      this.accuse(`${options.id} has two nodes in one session`);
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
      this.accuse(`${id} says that it leads although it was notified that it does not`);
    if (!hold.leases.has(leadership as Lease) && leadership!.isHeld)
      this.accuse(`${id} leads again by a leadership that it has released`);
    const mustBeTold = candidate.isTold && candidate.isStanding;
    if (hold.lostAt !== undefined && (leadership!.isHeld || mustBeTold))
      this.accuse(`${id} is not notified that it does not lead any more`);
    if (candidate.liveHold && errorPolicy === 'standard' && !client.connection.isConnected)
      this.accuse(`${id} leads although the connection is interrupted`);
  }

  #gaveBack(candidate: Candidate, hold: ObservedHold, lease: Lease): void {
    if (!hold.leases.delete(lease) || hold.leases.size > 0) return;
    hold.releasedAt = this.now;
    if (hold.endedAt !== undefined) return;
    hold.endedAt = candidate.changedAt = this.now;
    this.#exclusion.ended(hold);
    this.note('released', `hold ${hold.id}`);
  }

  #listen(candidate: Candidate, hold: ObservedHold, lease: Lease): void {
    const { signal } = lease;
    const lose = () => {
      if (hold.endedAt !== undefined || !hold.leases.has(lease)) return;
      hold.lostAt = hold.endedAt = candidate.changedAt = this.now;
      this.#exclusion.ended(hold);
      this.note('lost', `hold ${hold.id}`);
    };
    if (signal.aborted) lose();
    else signal.addEventListener('abort', lose);
  }
}

/** One call of `awaitLeadership`, as its caller sees it. */
export interface Awaiting {
  readonly candidate: Candidate;
  readonly startedAt: number;
  /** When it times out; `Infinity` if it does not. */
  readonly endsAt: number;
  abortedAt?: number;
}

/** A caller that waits for leadership is notified as soon as its candidate leads, and waits no longer than requested. */
export class AwaitingRule extends Observer {
  readonly #underWay = new Set<Awaiting>();

  began(awaiting: Awaiting): void {
    this.#underWay.add(awaiting);
  }

  elected(awaiting: Awaiting, leadership: Leadership): void {
    this.#end(awaiting);
    const { options, leadership: told } = awaiting.candidate;
    if (leadership !== told) this.accuse(`${options.id} leads without a notification`);
    this.note('awaited', options.id);
  }

  failed(awaiting: Awaiting, code: string): void {
    this.#end(awaiting);
    const { candidate, endsAt, abortedAt } = awaiting;
    const { client, id } = candidate.options;
    const isClientClosed = client.closedAt !== undefined;
    const reasons = [
      ...(endsAt < Times.never ? ['LOCK_TIMEOUT'] : []),
      ...(abortedAt !== undefined ? ['LOCK_ABORTED'] : []),
      ...(isClientClosed ? ['LOCK_CLIENT_CLOSED'] : []),
      ...(isClientClosed || !candidate.isStanding ? ['LOCK_ELECTION_CLOSED'] : []),
    ];
    if (!reasons.includes(code)) this.accuse(`${id} fails to wait with ${code}`);
    this.note(`failed with ${code}`, id);
  }

  override check(): void {
    for (const awaiting of this.#underWay) {
      const { candidate, startedAt } = awaiting;
      const { process } = candidate.options.client;
      if (!process.isRunning || process.thawedAt >= this.now) continue;
      this.#checkEnd(awaiting);
      if (candidate.isStanding && candidate.liveHold && this.now > startedAt)
        this.accuse(
          `${candidate.options.id} leads, and a caller that waits for that does not know`,
        );
    }
  }

  #end(awaiting: Awaiting): void {
    this.#checkEnd(awaiting);
    this.#underWay.delete(awaiting);
  }

  #checkEnd({ candidate, startedAt, endsAt, abortedAt = Times.never }: Awaiting): void {
    const { process, closedAt = Times.never } = candidate.options.client;
    const end = Times.earliest(endsAt, abortedAt, closedAt);
    const latest = Times.latest(end, startedAt, process.thawedAt) + Timing.rounding;
    if (this.now > latest)
      this.accuse(`${candidate.options.id} waits on after the end at ${latest} ms`);
  }
}

/** How long there may be no leader once the faults are over, in addition to the longest session timeout. */
const LONGEST_VACANCY = 1_000;

/** A standing candidate gets into the queue, the one in turn leads, and a closed one leaves: within a few latencies. */
export class ElectionProgress extends Observer {
  #ledAt = 0;

  constructor(
    world: World,
    private readonly queue: LockQueue,
    private readonly candidates: ReadonlyMap<string, Candidate>,
  ) {
    super(world);
  }

  /** Whether there is a leader with a live process, or one that blocks others because work continues under its leadership. */
  get isLed(): boolean {
    for (const { liveHold, isBusy, options } of this.candidates.values())
      if ((liveHold || isBusy) && !options.client.process.isDead) return true;
    return false;
  }

  override check(): void {
    for (const candidate of this.candidates.values())
      if (candidate.isStanding) this.#checkStanding(candidate);
    for (const node of this.queue.nodes) this.#checkNode(node);
    this.#checkVacancy();
  }

  #checkStanding(candidate: Candidate): void {
    const { client, id } = candidate.options;
    const { node, isBusy, changedAt, vanishedAt } = candidate;
    if (isBusy || (node && node.goneAt === undefined)) return;
    if (this.now > Times.latest(changedAt, vanishedAt, client.calmSince) + Patience.TO_QUEUE)
      this.accuse(`${id} does not queue although nothing disturbs it`);
  }

  #checkNode(node: QueuedNode): void {
    const candidate = this.candidates.get(node.data)!;
    const { client } = candidate.options;
    if (client.process.isRunning && candidate.liveHold?.nodes.includes(node)) return;
    const { isStanding, nodes, changedAt, isBusy } = candidate;
    const isServed = client.connection.session?.id === node.owner && !client.process.isDead;
    const isCurrent = isStanding && nodes.includes(node);
    if (isServed && (isBusy || (isCurrent && node.servedSince === undefined))) return;
    const since = Times.latest(changedAt, node.servedSince ?? 0);
    const latest = isServed
      ? Times.latest(since, client.calmSince) + (isCurrent ? Patience.TO_SERVE : Patience.TO_QUEUE)
      : Times.latest(since, this.world.judge.calmSince) +
        client.sessionTimeout +
        2 * Timing.tick +
        Patience.TO_SERVE;
    if (this.now > latest)
      this.accuse(`${node.path} stands in the way since ${since.toFixed(1)} ms`);
  }

  /** If any candidate can lead, one does, except for the time that the session of a dead one takes to expire. */
  #checkVacancy(): void {
    if (this.isLed) this.#ledAt = this.now;
    const { judge, clients } = this.world;
    let readySince = Times.never;
    for (const { standsSince, options } of this.candidates.values())
      readySince = Times.earliest(readySince, Times.latest(standsSince, options.client.calmSince));
    const since = Times.latest(judge.calmSince, this.#ledAt, readySince);
    if (this.now <= since + LONGEST_VACANCY) return;
    const longestSession = Times.latest(...clients.map(({ sessionTimeout }) => sessionTimeout));
    if (this.now > since + longestSession + LONGEST_VACANCY)
      this.accuse(`there is no leader since ${since.toFixed(1)} ms`);
  }
}
