import { LockError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { ExclusionRule } from './exclusion-rule.js';
import type { History } from './history.js';
import type { LockQueue } from './lock-queue.js';
import type { ObservedHold } from './observed-hold.js';
import { Operation } from './operation.js';
import { ProgressRule } from './progress-rule.js';
import type { QueuedNode } from './queued-node.js';
import type { SimulatedClient } from './simulated-client.js';

/** Is told what the users of the locks see, and holds it against what a lock promises. */
export class Judge {
  readonly queues = new Set<LockQueue>();
  /** Since when the faults are over. */
  calmSince = Infinity;
  #lastId = 0;
  readonly #exclusion: ExclusionRule;
  readonly #progress: ProgressRule;
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
    this.#progress = new ProgressRule({
      now,
      history,
      exclusion: this.#exclusion,
      queues: this.queues,
      clients,
      calmSince: () => this.calmSince,
    });
  }

  /** An acquire begins; `outer` is the live hold in whose scope it is called. */
  began(
    client: SimulatedClient,
    queue: LockQueue,
    options: { readonly wait?: number; readonly isTry?: boolean } = {},
    outer?: ObservedHold,
  ): Operation {
    const { wait, isTry = false } = options;
    const id = ++this.#lastId;
    const startedAt = this.now();
    const operation = new Operation({ id, client, queue, isTry, wait, startedAt, outer });
    this.#progress.began(operation);
    this.history.note('asked', `by ${client.name} as ${id}`);
    return operation;
  }

  /** A node was created for it. */
  queued(operation: Operation, node: QueuedNode): void {
    const { nodes, options } = operation;
    const { id } = options;
    if (options.outer) this.history.accuse(`operation ${id} queues instead of re-entering`);
    if (nodes.some(({ goneAt, owner }) => goneAt === undefined && owner === node.owner))
      this.history.accuse(`operation ${id} has two nodes in one session`);
    nodes.push(node);
    this.#progress.queued(operation, node);
    this.history.note(nodes.length > 1 ? 'queued again' : 'queued', `${id} as ${node.path}`);
  }

  /** It ended with a lease. */
  granted(operation: Operation, lease: Lease): ObservedHold {
    this.#progress.settled(operation);
    return operation.nodes.length === 0
      ? this.#reentered(operation, lease)
      : this.#acquired(operation, lease);
  }

  /** It ended with nothing, for others are ahead. */
  refused(operation: Operation): void {
    this.#progress.settled(operation);
    const { node, options } = operation;
    const { id, client } = options;
    if (!node?.hadOthersAhead)
      this.history.accuse(`operation ${id} is refused a lock that is free`);
    const isLeft = client.calmSince < Infinity && node?.goneAt === undefined;
    if (isLeft) this.history.accuse(`operation ${id} leaves its node behind`);
    this.history.note('refused', `${id}`);
  }

  /** It was rejected. */
  failed(operation: Operation, error: unknown): void {
    this.#progress.settled(operation);
    const { abortedAt, options } = operation;
    const { id, client, wait, isTry } = options;
    const code = error instanceof LockError ? error.code : String(error);
    const reasons = [
      ...(wait !== undefined || isTry ? ['LOCK_TIMEOUT'] : []),
      ...(abortedAt !== undefined ? ['LOCK_ABORTED'] : []),
      ...(client.closedAt !== undefined ? ['LOCK_CLIENT_CLOSED'] : []),
    ];
    if (!reasons.includes(code)) this.history.accuse(`operation ${id} fails with ${code}`);
    this.history.note(`failed with ${code}`, `${id}`);
  }

  /** It was granted, but lost before anybody had the lease. */
  missed(operation: Operation): void {
    this.#progress.settled(operation);
    this.history.note('lost on arrival', `${operation.options.id}`);
  }

  /** A lease is about to be released. */
  releasing(hold: ObservedHold, lease: Lease): void {
    hold.leases.delete(lease);
    this.#over.add(lease);
    if (hold.leases.size > 0) return;
    hold.endedAt ??= this.now();
    this.#exclusion.ended(hold);
    this.history.note('released', `hold ${hold.id}`);
  }

  /** The token that a lease has given. */
  fenced({ id, node }: ObservedHold, token: bigint): void {
    if (token !== BigInt(node.czxid)) this.history.accuse(`hold ${id} has a token not its own`);
    this.history.note('fenced', `hold ${id}`);
  }

  /** To be called after every event in the world. @throws when a promise is broken */
  check(): void {
    this.#exclusion.check();
    this.#progress.check();
    for (const lease of this.#over)
      if (lease.isHeld) this.history.accuse('a lease is held again that was released or lost');
    this.history.throwIfAccused();
  }

  #reentered(operation: Operation, lease: Lease): ObservedHold {
    const { id, outer, startedAt } = operation.options;
    if (!outer || startedAt < this.now())
      this.history.accuse(`operation ${id} was granted without a node`);
    const hold = (operation.hold = outer!);
    hold.leases.add(lease);
    this.history.note('re-entered', `hold ${hold.id} by ${id}`);
    this.#listen(hold, lease);
    return hold;
  }

  #acquired(operation: Operation, lease: Lease): ObservedHold {
    const { watched, options } = operation;
    const { id, client, queue } = options;
    const node = operation.node!;
    const watchedAt = watched?.path === node.path ? watched.at : -1;
    const hold: ObservedHold = {
      id,
      client,
      queue,
      node,
      grantedAt: this.now(),
      isWatched: watchedAt > client.connectedAt && node.writtenAt === undefined,
      leases: new Set([lease]),
    };
    operation.hold = hold;
    this.history.note('granted', `hold ${id} by ${node.path}`);
    this.#listen(hold, lease);
    if (hold.lostAt === undefined) this.#exclusion.granted(hold);
    return hold;
  }

  /** The signal of a lease that is released is silent, so every lease of the hold is listened to. */
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
