import { LockError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { ZooKeeperLease } from '../../lib/zookeeper/locks/zookeeper-lease.js';
import type { Asked } from './asked.js';
import { ExclusionRule } from './exclusion-rule.js';
import type { History } from './history.js';
import { liveHolds } from './live-holds.js';
import type { LockQueue } from './lock-queue.js';
import type { ObservedHold } from './observed-hold.js';
import { Operation } from './operation.js';
import { PartsRule } from './parts-rule.js';
import { ProgressRule } from './progress-rule.js';
import type { QueuedNode } from './queued-node.js';
import type { SimulatedClient } from './simulated-client.js';
import type { SimulatedLock } from './simulated-lock.js';

/** Requests of one operation for one reason: parents are created, nodes created, located, read, watched and deleted. */
const MANY = 20;

/** Receives what the users of the locks see, and compares it with what a lock promises. */
export class Judge {
  readonly queues = new Set<LockQueue>();
  /** Since when the faults are over. */
  calmSince = Infinity;
  #lastId = 0;
  readonly #exclusion: ExclusionRule;
  readonly #progress: ProgressRule;
  readonly #parts: PartsRule;
  /** Leases that were released or lost: they stay so. */
  readonly #over = new Set<Lease>();

  /** @param isAsking see {@link ExclusionRule} */
  constructor(
    private readonly now: () => number,
    readonly history: History,
    clients: readonly SimulatedClient[],
    isAsking: boolean,
  ) {
    this.#exclusion = new ExclusionRule(now, history, isAsking);
    this.#parts = new PartsRule(history, isAsking);
    this.#progress = new ProgressRule({
      now,
      history,
      exclusion: this.#exclusion,
      queues: this.queues,
      clients,
      calmSince: () => this.calmSince,
    });
  }

  /** An acquire begins. */
  began(client: SimulatedClient, lock: SimulatedLock, asked: Asked = {}): Operation {
    const { wait, isTry = false, permits = 1, outer } = asked;
    const id = ++this.#lastId;
    const startedAt = this.now();
    const prospect = lock.prospect(liveHolds(outer));
    const call = { id, client, lock, isTry, permits, wait, startedAt, outer, prospect };
    const operation = new Operation(call);
    this.#progress.began(operation);
    this.history.note('asked', `for ${lock.key} by ${client.name} as ${id}`);
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

  /** The operation has sent a request. */
  sent(operation: Operation): void {
    const { id, permits } = operation.options;
    if (operation.sent() > MANY + 2 * permits)
      this.history.accuse(`operation ${id} asks again and again`);
  }

  /** A node was created for the operation. */
  queued(operation: Operation, queue: LockQueue, node: QueuedNode): void {
    const { lock, id, isTry, permits, prospect } = operation.options;
    const isGate = queue === lock.gate;
    const nodes = isGate ? operation.gateNodes : operation.nodes;
    if (prospect.kind === 're-enter' || prospect.kind === 'refuse')
      this.history.accuse(`operation ${id} queues although it is to ${prospect.kind}`);
    const current = isGate ? nodes : operation.currentNodes;
    const standing = current.filter((it) => it.goneAt === undefined && it.owner === node.owner);
    if (standing.length >= (isGate ? 1 : permits))
      this.history.accuse(`operation ${id} has ${standing.length + 1} nodes in one session`);
    if (lock.gate && !isGate && !isTry && !operation.hasGate)
      this.history.accuse(`operation ${id} asks for permits although the gate is not its own`);
    this.history.note(nodes.length > 0 ? 'queued again' : 'queued', `${id} as ${node.path}`);
    nodes.push(node);
    this.#progress.queued(operation, node);
  }

  /** The operation ended with a lease. */
  granted(operation: Operation, lease: Lease): ObservedHold {
    this.#progress.settled(operation);
    const { prospect, id } = operation.options;
    if (prospect.kind === 'refuse') this.history.accuse(`operation ${id} is granted a deadlock`);
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
    this.#progress.settled(operation);
    const { ownNodes: nodes, options, parts } = operation;
    const { id, client } = options;
    const isBusy = nodes.some(({ hasWaited }) => hasWaited) || this.#parts.isRefused(parts);
    if (!isBusy) this.history.accuse(`operation ${id} is refused a lock that is free`);
    const isCalm = client.calmSince < Infinity;
    if (isCalm && nodes.some(({ goneAt }) => goneAt === undefined))
      this.history.accuse(`operation ${id} leaves its node behind`);
    this.#parts.over(operation);
    this.history.note('refused', `${id}`);
  }

  /** The operation was rejected. */
  failed(operation: Operation, error: unknown): void {
    this.#progress.settled(operation);
    const { abortedAt, options } = operation;
    const { id, client, wait, isTry, prospect } = options;
    const code = error instanceof LockError ? error.code : String(error);
    const reasons = [
      ...(wait !== undefined || isTry ? ['LOCK_TIMEOUT'] : []),
      ...(abortedAt !== undefined ? ['LOCK_ABORTED'] : []),
      ...(client.closedAt !== undefined ? ['LOCK_CLIENT_CLOSED'] : []),
      ...(prospect.kind === 'refuse' ? [prospect.code] : []),
      ...this.#parts.reasons(operation),
    ];
    if (!reasons.includes(code)) this.history.accuse(`operation ${id} fails with ${code}`);
    this.#parts.over(operation);
    this.history.note(`failed with ${code}`, `${id}`);
  }

  /** The lock was granted, but lost before the caller had the lease. */
  missed(operation: Operation): void {
    this.#progress.settled(operation);
    this.history.note('lost on arrival', `${operation.options.id}`);
  }

  /** A lease is about to be released. */
  releasing(hold: ObservedHold, lease: Lease): void {
    this.#over.add(lease);
    if (!hold.leases.delete(lease) || hold.leases.size > 0) return;
    hold.releasedAt = this.now();
    hold.endedAt ??= this.now();
    this.#exclusion.ended(hold);
    this.history.note('released', `hold ${hold.id}`);
  }

  /** Checks the token that a lease has returned. */
  fenced({ id, nodes, parts }: ObservedHold, token: bigint): void {
    const tokens = [...nodes, ...parts.flatMap(({ hold }) => hold.nodes)].map((node) => node.token);
    if (token !== BigInt(Math.max(...tokens)))
      this.history.accuse(`hold ${id} has a token not its own`);
    this.history.note('fenced', `hold ${id}`);
  }

  /** Call it after every event in the world. @throws when a promise is broken */
  check(): void {
    this.#parts.check();
    this.#exclusion.check();
    this.#progress.check();
    for (const lease of this.#over)
      if (lease.isHeld) this.history.accuse('a lease is held again that was released or lost');
    this.history.throwIfAccused();
  }

  #reentered({ nodes, options }: Operation, hold: ObservedHold): ObservedHold {
    const { id, startedAt } = options;
    if (nodes.length > 0 || startedAt < this.now())
      this.history.accuse(`operation ${id} does not re-enter at once`);
    this.history.note('re-entered', `hold ${hold.id} by ${id}`);
    return hold;
  }

  #acquired(operation: Operation, lease: Lease): ObservedHold {
    const { options, watchedAt } = operation;
    const { id, client, lock, prospect } = options;
    const nodes = this.#nodesOf(operation, lease);
    if (prospect.kind === 'downgrade') this.#downgraded(nodes[0], prospect.hold);
    const isWatched = ({ path, writtenAt }: QueuedNode) =>
      writtenAt === undefined && (watchedAt.get(path) ?? -1) > client.connectedAt;
    const hold: ObservedHold = {
      id,
      client,
      lock,
      queue: lock.queue,
      nodes,
      parts: lock.parts ? this.#parts.granted(operation, this.now()) : [],
      grantedAt: this.now(),
      watched: new Set(nodes.filter(isWatched)),
      leases: new Set(),
    };
    this.history.note('granted', `hold ${id} by ${nodes.map(({ path }) => path).join()}`);
    if (lock.parts) this.#parts.held(hold);
    return hold;
  }

  /** The nodes of a lease are those that it reports, if they were made for the operation. */
  #nodesOf({ nodes, options }: Operation, lease: Lease): QueuedNode[] {
    const paths = lease instanceof ZooKeeperLease ? lease.paths : [];
    const own = paths.flatMap((path) => nodes.findLast((node) => node.path === path) ?? []);
    if (own.length !== paths.length || own.length !== (options.lock.parts ? 0 : options.permits))
      this.history.accuse(`operation ${options.id} was granted on ${paths.join()}`);
    return own;
  }

  /** If the writer was released before, it is a reader like any other. */
  #downgraded(node: QueuedNode | undefined, { nodes: [writer], endedAt, id }: ObservedHold): void {
    if (node?.token === writer?.token) this.history.note('downgraded', `hold ${id}`);
    else if (endedAt === undefined)
      this.history.accuse(`hold ${id} is not downgraded in its place`);
  }

  /** The signal of a released lease is silent, so every lease of the hold is listened to. */
  #listen(hold: ObservedHold, { signal }: Lease): void {
    if (signal.aborted) this.#lost(hold);
    else signal.addEventListener('abort', () => this.#lost(hold));
  }

  #lost(hold: ObservedHold): void {
    if (hold.lostAt !== undefined) return;
    hold.lostAt = this.now();
    hold.endedAt ??= this.now();
    for (const lease of hold.leases) this.#over.add(lease);
    this.#exclusion.ended(hold);
    this.history.note('lost', `hold ${hold.id}`);
  }
}
