import type { SimulatedClient } from './client.js';
import { keptUntil } from './kept-locks.js';
import type { LockQueue, QueuedNode } from './lock-queue.js';
import type { SimulatedLock } from './locks.js';
import { Observer } from './observer.js';
import type { ObservedHold, Operation } from './operation.js';
import { Patience, Times, Timing } from './timing.js';
import type { World } from './world.js';

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
export class ExclusionRule extends Observer {
  readonly #holds = new Set<ObservedHold>();
  /** Of every lock, and every name of nodes, the last that was granted. */
  readonly #lastGranted = new Map<LockQueue, Map<string, QueuedNode>>();

  granted(hold: ObservedHold): void {
    const { queue, nodes, client, id } = hold;
    this.#holds.add(hold);
    for (const node of nodes) {
      if (!node.wasServed) this.accuse(`hold ${id} was granted to a node that never had its turn`);
      if (node.owner !== client.connection.session?.id)
        this.accuse(`hold ${id} was granted to a node of another session`);
    }
    this.check();
    for (const node of nodes) if (node.goneAt === undefined) this.#follow(id, queue!, node); // otherwise allowed, or accused by now
  }

  ended(hold: ObservedHold): void {
    this.#holds.delete(hold);
  }

  /** Whether it is the node of a live holder. */
  isHeld(node: QueuedNode): boolean {
    for (const { nodes, client } of this.#holds)
      if (nodes.includes(node) && !client.process.isDead) return true;
    return false;
  }

  override check(): void {
    const sure = new Map<LockQueue, QueuedNode[]>();
    for (const hold of [...this.#holds]) {
      if (!this.#speaks(hold)) continue;
      if (this.world.isAsking) for (const lease of hold.leases) void lease.isHeld; // where it is lost, its signal aborts now
      if (!this.#holds.has(hold)) continue;
      const { queue, nodes, id, client } = hold;
      for (const node of nodes) {
        if (client.closedAt !== undefined || node.owner !== client.connection.session?.id)
          this.accuse(`hold ${id} outlives its session`);
        if (node.goneAt !== undefined) {
          if (this.now <= this.#hasToKnow(hold, node) + Timing.rounding) continue;
          this.accuse(`hold ${id} says that it is held without its node`);
        }
        const others = sure.get(queue!);
        if (others) others.push(node);
        else sure.set(queue!, [node]);
      }
    }
    for (const [{ rule, directory }, nodes] of sure)
      if (!rule.mayHoldTogether(nodes))
        this.accuse(`${directory} is held by too many: ${nodes.map(({ path }) => path).join()}`);
  }

  #follow(id: number, queue: LockQueue, node: QueuedNode): void {
    const last = this.#lastGranted.get(queue) ?? new Map<string, QueuedNode>();
    this.#lastGranted.set(queue, last);
    const others = [...last.values()].filter((earlier) => earlier !== node); // unless it was handed on
    for (const earlier of others)
      if (!queue.rule.mayFollow(node, earlier))
        this.accuse(`hold ${id} has the token ${node.token} after ${earlier.token}`);
    if (node.token >= (last.get(node.name)?.token ?? 0)) last.set(node.name, node);
  }

  #speaks({ client: { process } }: ObservedHold): boolean {
    if (!process.isRunning) return false;
    return this.world.isAsking || process.thawedAt < this.now; // if it is not asked, it needs a turn of its own first
  }

  /**
   * When the holder has to know that its node was deleted by others.
   *
   * If the watch was set: one latency later, or after the trouble that it was in. Otherwise it sets the watch at the next
   * opportunity, and the request takes one latency more: `watchAfter` the grant; when it is connected again; when it learns
   * that the watch was used up.
   */
  #hasToKnow({ client, servedAt, watched }: ObservedHold, node: QueuedNode): number {
    const { taken, writtenAt = -1 } = node;
    if (taken === undefined) return -Infinity;
    const { latency, watchAfter } = Timing;
    const isWatched = watched.has(node);
    const isSet = isWatched && Math.max(client.connectedAt, writtenAt) < servedAt;
    const opportunity = Math.max(isWatched ? 0 : servedAt + watchAfter, writtenAt + latency);
    const listensSince = isSet
      ? client.calmSince
      : Math.max(client.calmSince, opportunity) + latency;
    const known = Math.max(taken.at, listensSince) + latency;
    // A session that has ended gets no answers any more, and is given up without an answer.
    return taken.by === 'operator' ? Math.min(known, taken.at + client.sessionTimeout) : known;
  }
}

type Parts = ObservedHold['parts'];

/**
 * A multi-lock acquires its parts one after the other in one order, and has all of them or none: where one is not granted, the
 * others are released; where one is lost, the whole is. The promises of each part are judged separately.
 */
export class PartsRule extends Observer {
  readonly #wholes = new Set<ObservedHold>();

  began(whole: Operation, lock: SimulatedLock): void {
    const { id, lock: multi } = whole.options;
    const held = this.#held(whole);
    const next = multi.parts![held.length];
    const isOrdered = held.every(({ hold }, place) => hold.lock === multi.parts![place]);
    if (!isOrdered || next !== lock)
      this.accuse(`operation ${id} takes ${lock.key} when it holds ${held.length} parts`);
    if (whole.parts.some(({ settledAt }) => settledAt === undefined))
      this.accuse(`operation ${id} asks for two parts at the same time`);
  }

  /** The operation has the lease; returns its parts. */
  granted(whole: Operation): Parts {
    const { id, lock } = whole.options;
    const parts = this.#held(whole);
    if (parts.length !== lock.parts!.length)
      this.accuse(`operation ${id} is granted with ${parts.length} parts`);
    if (parts.some(({ hold }) => hold.lostAt !== undefined && hold.lostAt < this.now))
      this.accuse(`operation ${id} is granted although a part of it was lost before`);
    return parts;
  }

  held(whole: ObservedHold): void {
    this.#wholes.add(whole);
  }

  over(whole: Operation): void {
    for (const { hold } of this.#held(whole))
      this.accuse(`operation ${whole.options.id} keeps ${hold.queue?.directory}`);
  }

  isRefused(parts: readonly Operation[]): boolean {
    const last = parts.at(-1);
    return last?.settledAt !== undefined && last.hold === undefined;
  }

  reasons({ parts }: Operation): string[] {
    const { prospect } = parts.at(-1)?.options ?? {};
    return prospect?.kind === 'refuse' ? [prospect.code] : [];
  }

  override check(): void {
    for (const whole of this.#wholes) {
      if (this.world.isAsking && whole.client.process.isRunning) this.#ask(whole);
      const { id, parts, lostAt, endedAt, client } = whole;
      const isLost = parts.some(({ hold }) => hold.lostAt !== undefined);
      if (endedAt === undefined && isLost)
        this.accuse(`hold ${id} goes on although a part of it is lost`);
      if (lostAt !== undefined && !isLost)
        this.accuse(`hold ${id} is lost although all its parts are held`);
      if (endedAt === undefined || whole.leases.size > 0) continue;
      this.#wholes.delete(whole);
      const isKept = parts.some(({ hold, lease }) => hold.leases.has(lease));
      if (isKept && client.process.isRunning) this.accuse(`hold ${id} is released but for a part`);
    }
  }

  /** If a part reports its loss when it is asked, the whole has to as well. */
  #ask({ id, leases, parts }: ObservedHold): void {
    const isHeld = [...leases].some((lease) => lease.isHeld);
    if (isHeld && !parts.every(({ lease }) => lease.isHeld))
      this.accuse(`hold ${id} says that it is held without a part`);
  }

  /** The parts that it holds now, in the order of their grants. */
  #held({ parts }: Operation): Parts {
    return parts.flatMap(({ hold, lease }) =>
      hold && lease && hold.leases.has(lease) ? [{ hold, lease }] : [],
    );
  }
}

/** No operation waits forever: undisturbed operations make progress, within a few latencies; and every maximum wait is kept. */
export class ProgressRule extends Observer {
  readonly underWay = new Set<Operation>();
  readonly #operations = new Map<QueuedNode, Operation>();

  constructor(
    world: World,
    private readonly exclusion: ExclusionRule,
  ) {
    super(world);
  }

  began(operation: Operation): void {
    this.underWay.add(operation);
  }

  queued(operation: Operation, node: QueuedNode): void {
    this.#operations.set(node, operation);
  }

  settled(operation: Operation): void {
    this.#checkBounds(operation);
    this.underWay.delete(operation);
    operation.settledAt = this.now;
  }

  override check(): void {
    for (const operation of this.underWay) {
      this.#checkBounds(operation);
      if (operation.options.lock.parts) this.#checkParts(operation);
      else this.#checkQueueing(operation);
    }
    const { clients, judge } = this.world;
    for (const client of clients) this.#checkConnection(client);
    for (const queue of judge.queues) for (const node of queue.served) this.#checkServed(node);
  }

  #checkBounds({ options, abortedAt = Times.never }: Operation): void {
    const { id, client, isTry, startedAt, wait = Times.never } = options;
    const { closedAt = Times.never, process } = client;
    // An attempt that may not wait returns when its node is removed: then it leaves nothing behind.
    const end = isTry
      ? closedAt + Patience.LONGEST_CLOSE
      : Times.earliest(startedAt + wait, abortedAt, closedAt);
    const latest = Times.latest(end, startedAt, process.thawedAt);
    if (process.isRunning && this.now > latest + Timing.rounding)
      this.accuse(`operation ${id} goes on after its end at ${latest} ms`);
  }

  #checkQueueing(operation: Operation): void {
    const { client, isTry, startedAt, permits } = operation.options;
    const { TO_TRY, TO_QUEUE } = Patience;
    const isLate = isTry
      ? this.now > Times.latest(startedAt, client.calmSince) + permits * TO_TRY
      : !operation.isQueued &&
        !operation.isWaiting &&
        this.now > Times.latest(operation.changedAt, client.calmSince) + TO_QUEUE;
    if (isLate) this.#isStuck(operation);
  }

  /** One part is acquired after the other; where it releases all and starts over, that takes its time. */
  #checkParts(operation: Operation): void {
    const { client, startedAt } = operation.options;
    const ends = operation.parts.map(({ settledAt = Times.never }) => settledAt);
    const since = Times.latest(startedAt, client.calmSince, ...ends);
    if (this.now > since + Patience.TO_SERVE) this.#isStuck(operation);
  }

  #isStuck({ options: { id } }: Operation): void {
    this.accuse(`operation ${id} does not get on although nothing disturbs it`);
  }

  /** An attempt to connect takes a third of the session timeout at most, and the first after the trouble may be late. */
  #checkConnection({ name, connection, sessionTimeout, reachableSince }: SimulatedClient): void {
    if (connection.isConnected || connection.state === 'CLOSED') return;
    const { LONGEST_BACK_OFF, TO_SERVE } = Patience;
    const latest = reachableSince + sessionTimeout / 3 + LONGEST_BACK_OFF + TO_SERVE;
    if (this.now > latest) this.accuse(`${name} does not connect`);
  }

  /** A node in turn is held, is removed, or waits for what else its operation needs. */
  #checkServed(node: QueuedNode): void {
    if (this.exclusion.isHeld(node)) return;
    const operation = this.#operations.get(node)!;
    const { client } = operation.options;
    const isServed = client.connection.session?.id === node.owner && !client.process.isDead;
    const isUnderWay = operation.settledAt === undefined;
    const isCurrent = !operation.nodes.includes(node) || operation.currentNodes.includes(node);
    if (isServed && isUnderWay && isCurrent && operation.isWaiting) return;
    if (isServed && keepsOthers(operation.hold)) return;
    const since = isUnderWay
      ? operation.changedAt
      : Times.latest(
          node.servedSince!,
          operation.settledAt!,
          endOf(lastOf(operation.hold), isServed),
        );
    const latest = isServed
      ? Times.latest(since, client.calmSince) +
        (isUnderWay && !operation.isQueued ? Patience.TO_QUEUE : Patience.TO_SERVE)
      : Times.latest(since, this.world.judge.calmSince) +
        client.sessionTimeout +
        2 * Timing.tick +
        Patience.TO_SERVE;
    if (this.now > latest)
      this.accuse(`${node.path} stands in the way since ${since.toFixed(1)} ms`);
  }
}

/** A holder that has lost one of several permits keeps the others for as long as it has the lease. */
function keepsOthers(hold: ObservedHold | undefined): boolean {
  const isLost = hold?.lostAt !== undefined;
  return isLost && hold.nodes.length > 1 && hold.releasedAt === undefined;
}

/** The last that has had the nodes of that hold. */
function lastOf(hold: ObservedHold | undefined): ObservedHold | undefined {
  if (hold?.sharers)
    return hold.sharers.reduce((last, each) => (endedBefore(last, each) ? each : last));
  return hold?.heir ? lastOf(hold.heir) : hold;
}

const endedBefore = ({ endedAt = 0 }: ObservedHold, { endedAt: other = 0 }: ObservedHold) =>
  endedAt < other;

/** @param isServed whether its client is there, which may keep it */
function endOf(hold: ObservedHold | undefined, isServed: boolean): number {
  if (hold === undefined) return 0;
  const { nodes, endedAt = 0, releasedAt = 0 } = hold;
  if (nodes.length > 1) return Times.latest(endedAt, releasedAt);
  return isServed ? keptUntil(hold) : endedAt;
}
