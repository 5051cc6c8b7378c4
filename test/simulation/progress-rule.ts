import type { ExclusionRule } from './exclusion-rule.js';
import type { History } from './history.js';
import type { LockQueue } from './lock-queue.js';
import type { ObservedHold } from './observed-hold.js';
import type { Operation } from './operation.js';
import { Patience } from './patience.js';
import type { QueuedNode } from './queued-node.js';
import type { SimulatedClient } from './simulated-client.js';
import { Times } from './times.js';
import { Timing } from './timing.js';

export interface ProgressRuleContext {
  readonly now: () => number;
  readonly history: History;
  readonly exclusion: ExclusionRule;
  readonly queues: ReadonlySet<LockQueue>;
  readonly clients: readonly SimulatedClient[];
  /** Since when the faults are over; `Infinity` if they are not. */
  readonly calmSince: () => number;
}

/** No operation waits forever: undisturbed operations make progress, within a few latencies; and every maximum wait is kept. */
export class ProgressRule {
  readonly #underWay = new Set<Operation>();
  readonly #operations = new Map<QueuedNode, Operation>();

  constructor(private readonly context: ProgressRuleContext) {}

  began(operation: Operation): void {
    this.#underWay.add(operation);
  }

  queued(operation: Operation, node: QueuedNode): void {
    this.#operations.set(node, operation);
  }

  settled(operation: Operation): void {
    this.#checkBounds(operation);
    this.#underWay.delete(operation);
    operation.settledAt = this.context.now();
  }

  check(): void {
    for (const operation of this.#underWay) {
      this.#checkBounds(operation);
      if (operation.options.lock.parts) this.#checkParts(operation);
      else this.#checkQueueing(operation);
    }
    const { clients, queues } = this.context;
    for (const client of clients) this.#checkConnection(client);
    for (const queue of queues) for (const node of queue.served) this.#checkServed(node);
  }

  #checkBounds({ options, abortedAt = Times.never }: Operation): void {
    const { id, client, isTry, startedAt, wait = Times.never } = options;
    const { closedAt = Times.never, process } = client;
    // An attempt that may not wait returns when its node is removed: then it leaves nothing behind.
    const end = isTry
      ? closedAt + Patience.LONGEST_CLOSE
      : Times.earliest(startedAt + wait, abortedAt, closedAt);
    const latest = Times.latest(end, startedAt, process.thawedAt);
    if (process.isRunning && this.context.now() > latest + Timing.rounding)
      this.context.history.accuse(`operation ${id} goes on after its end at ${latest} ms`);
  }

  #checkQueueing(operation: Operation): void {
    const { client, isTry, startedAt, permits } = operation.options;
    const { TO_TRY, TO_QUEUE } = Patience;
    const isLate = isTry
      ? this.context.now() > Times.latest(startedAt, client.calmSince) + permits * TO_TRY
      : !operation.isQueued &&
        !operation.isWaiting &&
        this.context.now() > Times.latest(operation.changedAt, client.calmSince) + TO_QUEUE;
    if (isLate) this.#accuse(operation);
  }

  /** One part is acquired after the other; where it releases all and starts over, that takes its time. */
  #checkParts(operation: Operation): void {
    const { client, startedAt } = operation.options;
    const ends = operation.parts.map(({ settledAt = Times.never }) => settledAt);
    const since = Times.latest(startedAt, client.calmSince, ...ends);
    if (this.context.now() > since + Patience.TO_SERVE) this.#accuse(operation);
  }

  #accuse({ options: { id } }: Operation): void {
    this.context.history.accuse(`operation ${id} does not get on although nothing disturbs it`);
  }

  /** An attempt to connect takes a third of the session timeout at most, and the first after the trouble may be late. */
  #checkConnection({ name, connection, sessionTimeout, reachableSince }: SimulatedClient): void {
    if (connection.isConnected || connection.state === 'CLOSED') return;
    const { LONGEST_BACK_OFF, TO_SERVE } = Patience;
    const latest = reachableSince + sessionTimeout / 3 + LONGEST_BACK_OFF + TO_SERVE;
    if (this.context.now() > latest) this.context.history.accuse(`${name} does not connect`);
  }

  /** A node in turn is held, is removed, or waits for what else its operation needs. */
  #checkServed(node: QueuedNode): void {
    if (this.context.exclusion.isHeld(node)) return;
    const operation = this.#operations.get(node)!;
    const { client } = operation.options;
    const isServed = client.connection.session?.id === node.owner && !client.process.isDead;
    const isUnderWay = operation.settledAt === undefined;
    const isCurrent = !operation.nodes.includes(node) || operation.currentNodes.includes(node);
    if (isServed && isUnderWay && isCurrent && operation.isWaiting) return;
    if (isServed && keepsOthers(operation.hold)) return;
    const since = isUnderWay
      ? operation.changedAt
      : Times.latest(node.servedSince!, operation.settledAt!, endOf(operation.hold));
    const latest = isServed
      ? Times.latest(since, client.calmSince) +
        (isUnderWay && !operation.isQueued ? Patience.TO_QUEUE : Patience.TO_SERVE)
      : Times.latest(since, this.context.calmSince()) +
        client.sessionTimeout +
        2 * Timing.tick +
        Patience.TO_SERVE;
    if (this.context.now() > latest)
      this.context.history.accuse(`${node.path} stands in the way since ${since.toFixed(1)} ms`);
  }
}

/** A holder that has lost one of several permits keeps the others for as long as it has the lease. */
function keepsOthers(hold: ObservedHold | undefined): boolean {
  const isLost = hold?.lostAt !== undefined;
  return isLost && hold.nodes.length > 1 && hold.releasedAt === undefined;
}

function endOf({ nodes, endedAt = 0, releasedAt = 0 }: Partial<ObservedHold> = {}): number {
  return nodes && nodes.length > 1 ? Times.latest(endedAt, releasedAt) : endedAt;
}
