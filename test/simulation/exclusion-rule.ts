import type { History } from './history.js';
import type { ObservedHold } from './observed-hold.js';
import { Timing } from './timing.js';

/**
 * Who holds a lock has the first node of its queue on the server: so there is one holder at most, and they follow each
 * other in the order of the numbers.
 *
 * Physics allows one exception: where a stranger deletes the node of a holder, or an operator ends its session, the next
 * one may be told before the holder can be. It ends when the holder has to know (see `#hasToKnow`). A session that expires
 * because the servers did not hear of it is no such exception: its holders have to know before.
 *
 * A process that is frozen says nothing, so it is asked the moment that it runs again.
 */
export class ExclusionRule {
  readonly #holds = new Set<ObservedHold>();
  /** Of every lock, the transaction that made the node which was granted last. */
  readonly #lastGranted = new Map<object, number>();

  /**
   * @param isAsking true: leases are asked all the time, so that they find their loss by the clock. False: they are only
   *   listened to, so they have to tell it by themselves
   */
  constructor(
    private readonly now: () => number,
    private readonly history: History,
    private readonly isAsking: boolean,
  ) {}

  granted(hold: ObservedHold): void {
    const { node, queue, client, id } = hold;
    this.#holds.add(hold);
    if (node.firstSince === undefined)
      this.history.accuse(`hold ${id} was granted to a node that never was the first`);
    if (node.owner !== client.connection.session?.id)
      this.history.accuse(`hold ${id} was granted to a node of another session`);
    this.check();
    if (node.goneAt !== undefined) return; // allowed, or it would be accused by now
    const last = this.#lastGranted.get(queue) ?? 0;
    if (node.czxid <= last)
      this.history.accuse(`hold ${id} has the token ${node.czxid} after ${last}`);
    this.#lastGranted.set(queue, node.czxid);
  }

  /** It was released, or said that it is lost. */
  ended(hold: ObservedHold): void {
    this.#holds.delete(hold);
  }

  /** Is that the node of a holder that lives? */
  isHeld(node: object): boolean {
    return [...this.#holds].some((hold) => hold.node === node && !hold.client.process.isDead);
  }

  check(): void {
    const sure = new Map<object, ObservedHold>();
    for (const hold of [...this.#holds]) {
      if (!this.#speaks(hold)) continue;
      if (this.isAsking) for (const lease of hold.leases) void lease.isHeld; // where it is lost, its signal says so now
      if (!this.#holds.has(hold)) continue;
      const { queue, node, id, client } = hold;
      if (client.closedAt !== undefined || node.owner !== client.connection.session?.id)
        this.history.accuse(`hold ${id} outlives its session`);
      if (queue.first !== node) {
        if (this.now() <= this.#hasToKnow(hold) + Timing.rounding) continue;
        this.history.accuse(`hold ${id} says that it is held without the first node`);
      }
      const other = sure.get(queue);
      if (other) this.history.accuse(`holds ${other.id} and ${id} are held at the same time`);
      sure.set(queue, hold);
    }
  }

  #speaks({ client: { process } }: ObservedHold): boolean {
    if (!process.isRunning) return false;
    return this.isAsking || process.thawedAt < this.now(); // without being asked it needs its turn first
  }

  /**
   * When the holder has to know that its node was taken.
   *
   * With the watch set: one latency later, or after the trouble that it was in. Else it sets the watch at the next
   * opportunity, and the request takes one latency more: `watchAfter` the grant; when it is connected again; when it hears
   * that the watch was used up.
   */
  #hasToKnow({ node, client, grantedAt, isWatched }: ObservedHold): number {
    const { taken, writtenAt = -1 } = node;
    if (taken === undefined) return -Infinity;
    const { latency, watchAfter } = Timing;
    const isSet = isWatched && Math.max(client.connectedAt, writtenAt) < grantedAt;
    const opportunity = Math.max(isWatched ? 0 : grantedAt + watchAfter, writtenAt + latency);
    const listensSince = isSet
      ? client.calmSince
      : Math.max(client.calmSince, opportunity) + latency;
    const known = Math.max(taken.at, listensSince) + latency;
    // Nothing is answered any more for a session that has ended, and it is given up without an answer.
    return taken.by === 'operator' ? Math.min(known, taken.at + client.sessionTimeout) : known;
  }
}
