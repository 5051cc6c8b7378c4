import type { LockQueue } from '../lock-queue.js';
import { Patience } from '../patience.js';
import type { QueuedNode } from '../queued-node.js';
import { Times } from '../times.js';
import { Timing } from '../timing.js';
import type { World } from '../world.js';
import type { Candidate } from './candidate.js';

/** How long there may be no leader once the faults are over, in addition to the longest session timeout. */
const LONGEST_VACANCY = 1_000;

/** A standing candidate gets into the queue, the one in turn leads, and a closed one leaves: within a few latencies. */
export class ElectionProgress {
  #ledAt = 0;

  constructor(
    private readonly world: World,
    private readonly queue: LockQueue,
    /** The candidates by their ids. */
    private readonly candidates: ReadonlyMap<string, Candidate>,
  ) {}

  /** Whether there is a leader with a live process, or one that blocks others because work continues under its leadership. */
  get isLed(): boolean {
    for (const { liveHold, isBusy, options } of this.candidates.values())
      if ((liveHold || isBusy) && !options.client.process.isDead) return true;
    return false;
  }

  check(): void {
    for (const candidate of this.candidates.values())
      if (candidate.isStanding) this.#checkStanding(candidate);
    for (const node of this.queue.nodes) this.#checkNode(node);
    this.#checkVacancy();
  }

  get #now(): number {
    return this.world.clock.now();
  }

  #checkStanding(candidate: Candidate): void {
    const { client, id } = candidate.options;
    const { node, isBusy, changedAt, vanishedAt } = candidate;
    if (isBusy || (node && node.goneAt === undefined)) return;
    if (this.#now > Times.latest(changedAt, vanishedAt, client.calmSince) + Patience.TO_QUEUE)
      this.world.history.accuse(`${id} does not queue although nothing disturbs it`);
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
    if (this.#now > latest)
      this.world.history.accuse(`${node.path} stands in the way since ${since.toFixed(1)} ms`);
  }

  /** If any candidate can lead, one does, except for the time that the session of a dead one takes to expire. */
  #checkVacancy(): void {
    if (this.isLed) this.#ledAt = this.#now;
    const { judge, clients, history } = this.world;
    let readySince = Times.never;
    for (const { standsSince, options } of this.candidates.values())
      readySince = Times.earliest(readySince, Times.latest(standsSince, options.client.calmSince));
    const since = Times.latest(judge.calmSince, this.#ledAt, readySince);
    if (this.#now <= since + LONGEST_VACANCY) return;
    const longestSession = Times.latest(...clients.map(({ sessionTimeout }) => sessionTimeout));
    if (this.#now > since + longestSession + LONGEST_VACANCY)
      history.accuse(`there is no leader since ${since.toFixed(1)} ms`);
  }
}
