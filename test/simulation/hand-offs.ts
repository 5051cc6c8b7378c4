import type { SimulatedClient } from './client.js';
import { keptAtMostUntil, wasKeptFromOthers } from './kept-locks.js';
import type { LockQueue } from './lock-queue.js';
import { Observer } from './observer.js';
import type { ObservedHold, Operation } from './operation.js';
import { Times, Timing } from './timing.js';

/** The callers of one client that want, or hold, a lock that is handed on, in the order in which they came. */
export class CallerLine {
  readonly #operations: Operation[] = [];
  /** When another caller became the first. */
  movedAt = 0;
  /** The latest of its holds. */
  latest?: ObservedHold;

  get first(): Operation | undefined {
    return this.#operations[0];
  }

  /** Returns whether others are ahead. */
  join(operation: Operation): boolean {
    return this.#operations.push(operation) > 1;
  }

  leave(id: number, now: number): void {
    const place = this.#operations.findIndex(({ options }) => options.id === id);
    if (place < 0) return;
    this.#operations.splice(place, 1);
    if (place === 0) this.movedAt = now;
  }
}

/** How often it was handed on since the servers granted it. */
function timesOf({ giver }: ObservedHold): number {
  return giver ? timesOf(giver) + 1 : 0;
}

/**
 * A mutex that is handed on goes from caller to caller of a client: in the order in which they came, and only to one who waits;
 * on one node, which only the first of them has. Other clients are passed by within the bounds of the mutex. What is lost is not
 * handed on, and each token is that of one caller. If none waits, it may be kept for the next one: for so long, in one session, and
 * not when others are seen to want it.
 */
export class HandOffRule extends Observer {
  readonly #lines = new Map<SimulatedClient, Map<LockQueue, CallerLine>>();
  /** Those that have queued just now: the one ahead may report its end in the same moment. */
  readonly #queued = new Map<Operation, number>();

  began(operation: Operation): void {
    const { client, lock, prospect, isTry } = operation.options;
    const waits = lock.handOff !== undefined || (lock.sharing !== undefined && !isTry);
    if (!waits || prospect.kind !== 'queue') return;
    operation.line = this.#lineOf(client, lock.queue!);
    operation.wasBehind = operation.line.join(operation);
  }

  queued(operation: Operation): void {
    if (operation.line !== undefined) this.#queued.set(operation, this.now);
  }

  /** It has ended without the lock, or its hold has ended. */
  over(id: number, client: SimulatedClient, queue: LockQueue | undefined): void {
    if (queue) this.#lines.get(client)?.get(queue)?.leave(id, this.now);
  }

  /** The hold that was handed on to that operation, if it was granted on that node. */
  giver({ line }: Operation, path: string | undefined): ObservedHold | undefined {
    const latest = line?.latest;
    return latest?.nodes[0]?.path === path ? latest : undefined;
  }

  granted({ line, options }: Operation, hold: ObservedHold): void {
    if (line === undefined) return;
    const { id, giver } = hold;
    if (options.lock.sharing !== undefined) return line.leave(id, this.now);
    const first = line.first?.options.id;
    if (first !== id) this.accuse(`hold ${id} was granted although ${first} is ahead of it`);
    line.latest = hold;
    if (giver === undefined) return;
    giver.heir = hold;
    this.note('handed on', `hold ${id} after ${giver.id}`);
    if (giver.lostAt !== undefined)
      this.accuse(`hold ${id} was handed on although hold ${giver.id} is lost`);
    if (giver.endedAt! < options.startedAt) this.#wasKept(giver, hold, options.startedAt);
    const [node] = hold.nodes;
    if (!hold.queue!.nodes.some(({ owner }) => owner !== node!.owner)) return;
    this.note('passed by', `hold ${id}`);
    const { atMost, for: ms } = options.lock.handOff!;
    if (timesOf(hold) > atMost || hold.grantedAt - hold.servedAt >= ms)
      this.accuse(`hold ${id} was handed on out of bounds, and others wait`);
  }

  fenced(hold: ObservedHold): void {
    hold.fencedAt ??= this.now;
    for (let { giver } = hold; giver; giver = giver.giver)
      if (giver.fencedAt !== undefined)
        this.accuse(`hold ${hold.id} has the token of hold ${giver.id}`);
  }

  override check(): void {
    for (const [operation, since] of this.#queued) {
      if (this.now === since) continue;
      this.#queued.delete(operation);
      const { line, settledAt, options } = operation;
      if (line!.first !== operation && settledAt === undefined)
        this.accuse(`operation ${options.id} queues although others of its client are ahead`);
    }
  }

  /** Its client had kept it for a while when this caller came. */
  #wasKept(giver: ObservedHold, hold: ObservedHold, cameAt: number): void {
    const { id, client, nodes } = hold;
    this.note('kept', `for hold ${id} since ${giver.endedAt!.toFixed(1)} ms`);
    const latest = Times.latest(keptAtMostUntil(giver), client.process.thawedAt);
    if (cameAt > latest + Timing.rounding)
      this.accuse(`hold ${id} was given what was kept for too long`);
    if (nodes[0]!.owner !== client.connection.session?.id)
      this.accuse(`hold ${id} was given what was kept in another session`);
    hold.keptSince ??= giver.endedAt;
    if (wasKeptFromOthers(hold)) this.accuse(`hold ${id} was given what others were seen to want`);
  }

  #lineOf(client: SimulatedClient, queue: LockQueue): CallerLine {
    const lines = this.#lines.get(client) ?? new Map<LockQueue, CallerLine>();
    this.#lines.set(client, lines);
    const line = lines.get(queue) ?? new CallerLine();
    lines.set(queue, line);
    return line;
  }
}
