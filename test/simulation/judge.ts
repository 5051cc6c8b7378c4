import { LockError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { ZooKeeperLease } from '../../lib/zookeeper/locks/zookeeper-lease.js';
import type { SimulatedClient } from './client.js';
import type { DeadlockJudge } from './deadlocks.js';
import { HandOffRule } from './hand-offs.js';
import type { LockQueue, QueuedNode } from './lock-queue.js';
import type { SimulatedLock } from './locks.js';
import { Observer } from './observer.js';
import { type ObservedHold, Operation, type Visit } from './operation.js';
import { SharedReadRule } from './shared-reads.js';
import { ExclusionRule, PartsRule, ProgressRule } from './rules.js';
import { WarningRule } from './warnings.js';
import type { World } from './world.js';

export interface Asked {
  readonly wait?: number;
  readonly isTry?: boolean;
  readonly permits?: number;
  /** The visit in the scope of which it is requested. */
  readonly outer?: Visit;
}

/** Requests of one operation for one reason: parents are created, nodes created, located, read, watched and deleted. */
const MANY = 20;

/** Receives what the users of the locks see, and compares it with what a lock promises. */
export class Judge extends Observer {
  readonly queues = new Set<LockQueue>();
  /** Judges what is reported of deadlocks; by default none may be the reason of a failure. */
  deadlocks?: DeadlockJudge;
  /** Since when the faults are over. */
  calmSince = Infinity;
  #lastId = 0;
  readonly #exclusion: ExclusionRule;
  readonly #progress: ProgressRule;
  readonly #parts: PartsRule;
  readonly #handOffs: HandOffRule;
  readonly #sharing: SharedReadRule;
  readonly warnings: WarningRule;
  /** Leases that were released or lost: they stay so. */
  readonly #over = new Set<Lease>();

  constructor(world: World) {
    super(world);
    this.#exclusion = new ExclusionRule(world);
    this.#parts = new PartsRule(world);
    this.#handOffs = new HandOffRule(world);
    this.#sharing = new SharedReadRule(world);
    this.warnings = new WarningRule(world);
    this.#progress = new ProgressRule(world, this.#exclusion);
  }

  /** The operations without a result so far. */
  get underWay(): ReadonlySet<Operation> {
    return this.#progress.underWay;
  }

  began(client: SimulatedClient, lock: SimulatedLock, asked: Asked = {}): Operation {
    const { wait, isTry = false, permits = 1, outer } = asked;
    const id = ++this.#lastId;
    const startedAt = this.now;
    const prospect = lock.prospect(liveHolds(outer));
    const call = { id, client, lock, isTry, permits, wait, startedAt, outer, prospect };
    const operation = new Operation(call);
    this.#progress.began(operation);
    this.#handOffs.began(operation);
    this.note('asked', `for ${lock.key} by ${client.name} as ${id}`);
    return operation;
  }

  /** The same, for a part of what `whole` asks for. */
  beganPart(whole: Operation, lock: SimulatedLock, asked: Asked): Operation {
    this.#parts.began(whole, lock);
    const { client, outer } = whole.options;
    const operation = this.began(client, lock, { ...asked, outer });
    whole.parts.push(operation);
    return operation;
  }

  sent(operation: Operation): void {
    const { id, permits } = operation.options;
    if (operation.sent() > MANY + 2 * permits) this.accuse(`operation ${id} asks again and again`);
  }

  queued(operation: Operation, queue: LockQueue, node: QueuedNode): void {
    const { lock, id, isTry, permits, prospect } = operation.options;
    const isGate = queue === lock.gate;
    const nodes = isGate ? operation.gateNodes : operation.nodes;
    if (prospect.kind === 're-enter' || prospect.kind === 'refuse')
      this.accuse(`operation ${id} queues although it is to ${prospect.kind}`);
    const current = isGate ? nodes : operation.currentNodes;
    // One that a busy server did not remove may be left for a while, and stands in the way no longer than any other.
    const standing = current.filter(
      (it) => it.goneAt === undefined && it.owner === node.owner && !it.wasKept,
    );
    if (standing.length >= (isGate ? 1 : permits))
      this.accuse(`operation ${id} has ${standing.length + 1} nodes in one session`);
    if (lock.gate && !isGate && !isTry && !operation.hasGate)
      this.accuse(`operation ${id} asks for permits although the gate is not its own`);
    this.note(nodes.length > 0 ? 'queued again' : 'queued', `${id} as ${node.path}`);
    this.#handOffs.queued(operation);
    nodes.push(node);
    this.#progress.queued(operation, node);
  }

  granted(operation: Operation, lease: Lease): ObservedHold {
    this.#progress.settled(operation);
    const { prospect, id } = operation.options;
    if (prospect.kind === 'refuse') this.accuse(`operation ${id} is granted a deadlock`);
    const hold =
      prospect.kind === 're-enter'
        ? this.#reentered(operation, prospect.hold)
        : this.#acquired(operation, lease);
    operation.hold = hold;
    operation.lease = lease;
    hold.leases.add(lease);
    if (hold.lostAt !== undefined) this.#over.add(lease);
    this.#listen(hold, lease);
    const isNew = hold.id === id && hold.lostAt === undefined;
    if (isNew) this.#exclusion.granted(hold);
    return hold;
  }

  /** The operation ended with nothing, because others are ahead. */
  refused(operation: Operation): void {
    this.#endedWithout(operation);
    const { ownNodes: nodes, options, parts } = operation;
    const { id, client } = options;
    const isBusy =
      operation.wasBehind ||
      nodes.some(({ hasWaited }) => hasWaited) ||
      this.#parts.isRefused(parts);
    if (!isBusy) this.accuse(`operation ${id} is refused a lock that is free`);
    const isCalm = client.calmSince < Infinity;
    if (isCalm && nodes.some(({ goneAt }) => goneAt === undefined))
      this.accuse(`operation ${id} leaves its node behind`);
    this.#parts.over(operation);
    this.note('refused', `${id}`);
  }

  failed(operation: Operation, error: unknown): void {
    this.#endedWithout(operation);
    const { abortedAt, options } = operation;
    const { id, client, wait, isTry, prospect } = options;
    const code = error instanceof LockError ? error.code : String(error);
    const reasons = [
      ...(wait !== undefined || isTry ? ['LOCK_TIMEOUT'] : []),
      ...(abortedAt !== undefined ? ['LOCK_ABORTED'] : []),
      ...(client.closedAt !== undefined ? ['LOCK_CLIENT_CLOSED'] : []),
      ...(prospect.kind === 'refuse' ? [prospect.code] : []),
      ...this.#parts.reasons(operation),
      ...(this.deadlocks?.reasons(operation) ?? []),
    ];
    if (!reasons.includes(code)) this.accuse(`operation ${id} fails with ${code}`);
    operation.isVictim = code === 'LOCK_DEADLOCK';
    this.#parts.over(operation);
    this.note(`failed with ${code}`, `${id}`);
  }

  /** The lock was granted, but lost before the caller had the lease. */
  missed(operation: Operation): void {
    this.#endedWithout(operation);
    this.note('lost on arrival', `${operation.options.id}`);
  }

  releasing(hold: ObservedHold, lease: Lease): void {
    this.#over.add(lease);
    if (!hold.leases.delete(lease) || hold.leases.size > 0) return;
    hold.releasedAt = this.now;
    hold.endedAt ??= this.now;
    this.#ended(hold);
    this.note('released', `hold ${hold.id}`);
  }

  fenced(whole: ObservedHold, token: bigint): void {
    const { id } = whole;
    const holds = [whole, ...whole.parts.map(({ hold }) => hold)];
    const tokens = holds.flatMap(({ nodes }) => nodes.map((node) => node.token));
    if (token !== BigInt(Math.max(...tokens))) this.accuse(`hold ${id} has a token not its own`);
    for (const hold of holds) this.#handOffs.fenced(hold);
    this.note('fenced', `hold ${id}`);
  }

  /** Call it after every event in the world. @throws when a promise is broken */
  override check(): void {
    this.#parts.check();
    this.#exclusion.check();
    this.#handOffs.check();
    this.#progress.check();
    for (const lease of this.#over)
      if (lease.isHeld) this.accuse('a lease is held again that was released or lost');
    this.world.history.throwIfAccused();
  }

  #reentered({ nodes, options }: Operation, hold: ObservedHold): ObservedHold {
    const { id, startedAt } = options;
    if (nodes.length > 0 || startedAt < this.now)
      this.accuse(`operation ${id} does not re-enter at once`);
    this.note('re-entered', `hold ${hold.id} by ${id}`);
    return hold;
  }

  #acquired(operation: Operation, lease: Lease): ObservedHold {
    const { options, watchedAt } = operation;
    const { id, client, lock, prospect } = options;
    const giver = this.#handOffs.giver(operation, pathsOf(lease)[0]);
    const [first] = this.#sharing.before(operation, pathsOf(lease)[0]);
    const nodes = (giver ?? first)?.nodes ?? this.#nodesOf(operation, lease);
    if (prospect.kind === 'downgrade') this.#downgraded(nodes[0], prospect.hold);
    const isWatched = ({ path, writtenAt }: QueuedNode) =>
      writtenAt === undefined && (watchedAt.get(path) ?? -1) > client.connectedAt;
    const hold: ObservedHold = {
      id,
      client,
      lock,
      queue: lock.queue,
      nodes,
      parts: lock.parts ? this.#parts.granted(operation) : [],
      grantedAt: this.now,
      servedAt: (giver ?? first)?.servedAt ?? this.now,
      giver,
      handOff: lock.handOff,
      keptSince: giver?.keptSince,
      watched: (giver ?? first)?.watched ?? new Set(nodes.filter(isWatched)),
      leases: new Set(),
    };
    this.note('granted', `hold ${id} by ${nodes.map(({ path }) => path).join()}`);
    if (lock.parts) this.#parts.held(hold);
    this.#handOffs.granted(operation, hold);
    this.#sharing.granted(operation, hold);
    return hold;
  }

  #endedWithout(operation: Operation): void {
    const { id, client, lock } = operation.options;
    this.#progress.settled(operation);
    this.#handOffs.over(id, client, lock.queue);
  }

  #ended(hold: ObservedHold): void {
    this.#exclusion.ended(hold);
    this.#handOffs.over(hold.id, hold.client, hold.queue);
  }

  /** The nodes of a lease that was not handed on are those that it reports, if they were made for the operation. */
  #nodesOf({ nodes, options }: Operation, lease: Lease): QueuedNode[] {
    const paths = pathsOf(lease);
    const own = paths.flatMap((path) => nodes.findLast((node) => node.path === path) ?? []);
    if (own.length !== paths.length || own.length !== (options.lock.parts ? 0 : options.permits))
      this.accuse(`operation ${options.id} was granted on ${paths.join()}`);
    return own;
  }

  /** If the writer was released before, it is a reader like any other. */
  #downgraded(node: QueuedNode | undefined, { nodes: [writer], endedAt, id }: ObservedHold): void {
    if (node?.token === writer?.token) this.note('downgraded', `hold ${id}`);
    else if (endedAt === undefined) this.accuse(`hold ${id} is not downgraded in its place`);
  }

  /** The signal of a released lease is silent, so every lease of the hold is listened to. */
  #listen(hold: ObservedHold, { signal }: Lease): void {
    const lost = () => this.#lost(hold, signal.reason);
    if (signal.aborted) lost();
    else signal.addEventListener('abort', lost);
  }

  #lost(hold: ObservedHold, reason: unknown): void {
    if (hold.lostAt !== undefined) return;
    this.warnings.lost(hold, reason);
    hold.lostAt = this.now;
    hold.endedAt ??= this.now;
    for (const lease of hold.leases) this.#over.add(lease);
    this.#ended(hold);
    this.note('lost', `hold ${hold.id}`);
  }
}

/** Of the nodes of a lease: none if it consists of parts. */
function pathsOf(lease: Lease): readonly string[] {
  return lease instanceof ZooKeeperLease ? lease.paths : [];
}

/** The holds around an acquire in the scope of that visit, innermost first. */
export function liveHolds(visit: Visit | undefined): ObservedHold[] {
  if (visit === undefined) return [];
  const own = visit.lease.isHeld ? [visit.hold] : [];
  const parts = visit.hold.parts.filter(({ lease }) => lease.isHeld).map(({ hold }) => hold);
  return [...own, ...parts, ...liveHolds(visit.outer)];
}
