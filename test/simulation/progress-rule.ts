import type { ExclusionRule } from './exclusion-rule.js';
import type { History } from './history.js';
import type { LockQueue } from './lock-queue.js';
import type { Operation } from './operation.js';
import type { QueuedNode } from './queued-node.js';
import type { SimulatedClient } from './simulated-client.js';
import { Timing } from './timing.js';

/** What came to a client's ears too late is made good by a few requests, after a sleep at worst. Milliseconds. */
const patience = (messages: number) => Timing.retry + messages * Timing.latency + Timing.rounding;

/** An acquire has its node: create, two `exists` and two creates of parents, create again; twice that if it was deceived. */
const TO_QUEUE = patience(24);
/** The first of the queue holds, or has removed its node: event, listing; or listing, removal. */
const TO_SERVE = patience(8);
/** An attempt that does not queue is over. */
const TO_TRY = TO_QUEUE + TO_SERVE;

/** The longest time between two attempts to connect. The end of the session begins it anew, once. */
const LONGEST_BACK_OFF = 2 * 1_000;
/** The time that `close` gives the removals, by default. */
const LONGEST_CLOSE = 5_000;

export interface ProgressRuleContext {
  readonly now: () => number;
  readonly history: History;
  readonly exclusion: ExclusionRule;
  readonly queues: ReadonlySet<LockQueue>;
  readonly clients: readonly SimulatedClient[];
  /** Since when the faults are over; `Infinity`: they are not. */
  readonly calmSince: () => number;
}

/** Nobody waits for ever: whoever is not disturbed gets on, in a few latencies; and every bound on a wait is kept. */
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
      this.#checkQueueing(operation);
    }
    const { clients, queues } = this.context;
    for (const client of clients) this.#checkConnection(client);
    for (const queue of queues) if (queue.first) this.#checkFirst(queue.first);
  }

  #checkBounds({ options, abortedAt = Infinity }: Operation): void {
    const { id, client, isTry, startedAt, wait = Infinity } = options;
    const { closedAt = Infinity, process } = client;
    // An attempt that may not wait comes back when its node is removed: then it leaves nothing behind.
    const end = isTry ? closedAt + LONGEST_CLOSE : Math.min(startedAt + wait, abortedAt, closedAt);
    const latest = Math.max(end, startedAt, process.thawedAt);
    if (process.isRunning && this.context.now() > latest + Timing.rounding)
      this.context.history.accuse(`operation ${id} goes on after its end at ${latest} ms`);
  }

  #checkQueueing({ options, node }: Operation): void {
    const { id, client, isTry, startedAt } = options;
    const since = Math.max(startedAt, client.calmSince);
    const isQueued = node?.owner === client.connection.session?.id && node?.goneAt === undefined;
    const isLate = isTry
      ? this.context.now() > since + TO_TRY
      : !isQueued && this.context.now() > Math.max(since, node?.goneAt ?? 0) + TO_QUEUE;
    if (isLate)
      this.context.history.accuse(`operation ${id} does not get on although nothing disturbs it`);
  }

  /** An attempt to connect takes a third of the session timeout at most, and the first after the trouble may be late. */
  #checkConnection({ name, connection, sessionTimeout, reachableSince }: SimulatedClient): void {
    if (connection.isConnected || connection.state === 'CLOSED') return;
    const latest = reachableSince + sessionTimeout / 3 + LONGEST_BACK_OFF + TO_SERVE;
    if (this.context.now() > latest) this.context.history.accuse(`${name} does not connect`);
  }

  #checkFirst(node: QueuedNode): void {
    if (this.context.exclusion.isHeld(node)) return;
    const { options, settledAt = 0, hold } = this.#operations.get(node)!;
    const { client } = options;
    const { connection, process } = client;
    const isServed = connection.session?.id === node.owner && !process.isDead;
    const since = Math.max(node.firstSince!, settledAt, hold?.endedAt ?? 0);
    const latest = isServed
      ? Math.max(since, client.calmSince) + TO_SERVE
      : Math.max(since, this.context.calmSince()) +
        client.sessionTimeout +
        2 * Timing.tick +
        TO_SERVE;
    if (this.context.now() > latest)
      this.context.history.accuse(`${node.path} stands in the way since ${since.toFixed(1)} ms`);
  }
}
