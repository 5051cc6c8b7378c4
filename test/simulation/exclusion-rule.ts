import type { History } from './history.js';
import type { LockQueue } from './lock-queue.js';
import type { ObservedHold } from './observed-hold.js';
import type { QueuedNode } from './queued-node.js';
import { Timing } from './timing.js';

/**
 * A holder of a lock has nodes in the lock's queue on the server, and they are in turn: so there are never more holders than
 * the rule of the lock allows, and they follow each other in the order of the queue.
 *
 * Physics allows one exception: where another client deletes the node of a holder, or an operator ends its session, the next
 * one may be notified before the holder can be. It ends when the holder has to know (see `#hasToKnow`). A session that expires
 * because the servers did not hear from it is no such exception: its holders have to know before.
 *
 * A frozen process reports nothing, so it is asked the moment that it runs again.
 */
export class ExclusionRule {
  readonly #holds = new Set<ObservedHold>();
  /** Of every lock, and every name of nodes, the last that was granted. */
  readonly #lastGranted = new Map<LockQueue, Map<string, QueuedNode>>();

  /**
   * @param isAsking true: leases are asked all the time, so that they find their loss by the clock. False: they are only
   *   listened to, so they have to report it by themselves
   */
  constructor(
    private readonly now: () => number,
    private readonly history: History,
    private readonly isAsking: boolean,
  ) {}

  granted(hold: ObservedHold): void {
    const { queue, nodes, client, id } = hold;
    this.#holds.add(hold);
    for (const node of nodes) {
      if (!node.wasServed)
        this.history.accuse(`hold ${id} was granted to a node that never had its turn`);
      if (node.owner !== client.connection.session?.id)
        this.history.accuse(`hold ${id} was granted to a node of another session`);
    }
    this.check();
    for (const node of nodes) if (node.goneAt === undefined) this.#follow(id, queue!, node); // otherwise allowed, or accused by now
  }

  /** It was released, or reported that it is lost. */
  ended(hold: ObservedHold): void {
    this.#holds.delete(hold);
  }

  /** Whether it is the node of a live holder. */
  isHeld(node: QueuedNode): boolean {
    for (const { nodes, client } of this.#holds)
      if (nodes.includes(node) && !client.process.isDead) return true;
    return false;
  }

  check(): void {
    const sure = new Map<LockQueue, QueuedNode[]>();
    for (const hold of [...this.#holds]) {
      if (!this.#speaks(hold)) continue;
      if (this.isAsking) for (const lease of hold.leases) void lease.isHeld; // where it is lost, its signal aborts now
      if (!this.#holds.has(hold)) continue;
      const { queue, nodes, id, client } = hold;
      for (const node of nodes) {
        if (client.closedAt !== undefined || node.owner !== client.connection.session?.id)
          this.history.accuse(`hold ${id} outlives its session`);
        if (node.goneAt !== undefined) {
          if (this.now() <= this.#hasToKnow(hold, node) + Timing.rounding) continue;
          this.history.accuse(`hold ${id} says that it is held without its node`);
        }
        const others = sure.get(queue!);
        if (others) others.push(node);
        else sure.set(queue!, [node]);
      }
    }
    for (const [{ rule, directory }, nodes] of sure)
      if (!rule.mayHoldTogether(nodes))
        this.history.accuse(
          `${directory} is held by too many: ${nodes.map(({ path }) => path).join()}`,
        );
  }

  #follow(id: number, queue: LockQueue, node: QueuedNode): void {
    const last = this.#lastGranted.get(queue) ?? new Map<string, QueuedNode>();
    this.#lastGranted.set(queue, last);
    for (const earlier of last.values())
      if (!queue.rule.mayFollow(node, earlier))
        this.history.accuse(`hold ${id} has the token ${node.token} after ${earlier.token}`);
    if (node.token >= (last.get(node.name)?.token ?? 0)) last.set(node.name, node);
  }

  #speaks({ client: { process } }: ObservedHold): boolean {
    if (!process.isRunning) return false;
    return this.isAsking || process.thawedAt < this.now(); // if it is not asked, it needs a turn of its own first
  }

  /**
   * When the holder has to know that its node was deleted by others.
   *
   * If the watch was set: one latency later, or after the trouble that it was in. Otherwise it sets the watch at the next
   * opportunity, and the request takes one latency more: `watchAfter` the grant; when it is connected again; when it learns
   * that the watch was used up.
   */
  #hasToKnow({ client, grantedAt, watched }: ObservedHold, node: QueuedNode): number {
    const { taken, writtenAt = -1 } = node;
    if (taken === undefined) return -Infinity;
    const { latency, watchAfter } = Timing;
    const isWatched = watched.has(node);
    const isSet = isWatched && Math.max(client.connectedAt, writtenAt) < grantedAt;
    const opportunity = Math.max(isWatched ? 0 : grantedAt + watchAfter, writtenAt + latency);
    const listensSince = isSet
      ? client.calmSince
      : Math.max(client.calmSince, opportunity) + latency;
    const known = Math.max(taken.at, listensSince) + latency;
    // A session that has ended gets no answers any more, and is given up without an answer.
    return taken.by === 'operator' ? Math.min(known, taken.at + client.sessionTimeout) : known;
  }
}
