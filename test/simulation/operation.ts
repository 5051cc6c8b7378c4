import { AsyncLocalStorage } from 'node:async_hooks';
import type { Lease } from '../../lib/core/lease.js';
import type { HandOff } from '../../lib/core/lock.js';
import type { SimulatedClient } from './client.js';
import type { CallerLine } from './hand-offs.js';
import type { LockQueue, QueuedNode } from './lock-queue.js';
import type { Prospect, SimulatedLock } from './locks.js';
import { Times } from './timing.js';

/** One grant of a lock, as seen from outside: its leases, and its nodes on the server. */
export interface ObservedHold {
  readonly id: number;
  readonly client: SimulatedClient;
  /** The lock of the world that it is a hold of. */
  readonly lock: object;
  /** The queue with its nodes; none if it consists of parts. */
  readonly queue?: LockQueue;
  readonly nodes: readonly QueuedNode[];
  readonly parts: readonly { readonly lease: Lease; readonly hold: ObservedHold }[];
  readonly grantedAt: number;
  /** When the servers granted its nodes: to it, or to the first of the callers by whom they were handed on. */
  readonly servedAt: number;
  /** The hold by which they were handed on to it. */
  readonly giver?: ObservedHold | undefined;
  /** The bounds within which its client may hand them on, or keep them. */
  readonly handOff?: HandOff | undefined;
  /** Since when its client has kept them at times, for the next caller. */
  keptSince?: number | undefined;
  /** The hold to which it has handed them on. */
  heir?: ObservedHold;
  /** The callers that share its node, if they may, in the order in which they got it. */
  sharers?: readonly ObservedHold[];
  /** When its caller first saw its token. */
  fencedAt?: number;
  /** The nodes on which the watch was set when it was granted. */
  readonly watched: ReadonlySet<QueuedNode>;
  readonly leases: Set<Lease>;
  lostAt?: number;
  endedAt?: number;
  /** When its last lease was released, lost or not. */
  releasedAt?: number;
}

/** A lease with the hold that it belongs to, and the visit in the scope of which it was acquired. */
export interface Visit {
  readonly lease: Lease;
  readonly hold: ObservedHold;
  readonly outer?: Visit;
}

export interface OperationOptions {
  readonly id: number;
  readonly client: SimulatedClient;
  readonly lock: SimulatedLock;
  readonly isTry: boolean;
  /** The number of nodes that it is to hold. */
  readonly permits: number;
  readonly startedAt: number;
  readonly wait?: number;
  /** The visit in the scope of which it was called. */
  readonly outer?: Visit;
  readonly prospect: Prospect;
}

/** One call of `acquire`, `tryAcquire` or `using`, as its caller sees it. */
export class Operation {
  abortedAt?: number;
  settledAt?: number;
  /** The callers of its client, if its lock is handed on. */
  line?: CallerLine;
  /** Whether others of that line were ahead when it came. */
  wasBehind = false;
  /** Whether it was rejected to break a deadlock. */
  isVictim = false;
  lease?: Lease;
  hold?: ObservedHold;
  /** Nodes that were made for it in the queue of its lock. */
  readonly nodes: QueuedNode[] = [];
  /** Nodes that were made for it at the gate. */
  readonly gateNodes: QueuedNode[] = [];
  /** Its operations on the parts of its lock. */
  readonly parts: Operation[] = [];
  /** The paths of its nodes that its client watches, and when it last read the answer. */
  readonly watchedAt = new Map<string, number>();

  /** The reason for the last request, and the number of requests for it. */
  #occasion = '';
  #requests = 0;

  constructor(readonly options: OperationOptions) {}

  /** It has sent a request. Returns how many it has sent since the last event that could be a reason. */
  sent(): number {
    const { client, lock } = this.options;
    const occasion = [client.connectedAt, lock.queue?.changes, lock.gate?.changes].join();
    this.#requests = occasion === this.#occasion ? this.#requests + 1 : 1;
    this.#occasion = occasion;
    return this.#requests;
  }

  /** Whether it has all the nodes that it needs, in the session of its client. */
  get isQueued(): boolean {
    return this.#standing(this.currentNodes).length >= this.options.permits;
  }

  /** The nodes that it has created since it last came to the gate: it may still be removing older ones. */
  get currentNodes(): readonly QueuedNode[] {
    const gate = this.gateNodes.at(-1);
    return gate ? this.nodes.filter(({ czxid }) => czxid > gate.czxid) : this.nodes;
  }

  /** Whether it is in turn at the gate, or was until its node was deleted by others. */
  get hasGate(): boolean {
    return this.gateNodes.some(
      ({ wasServed, goneAt, taken }) => wasServed && (goneAt === undefined || taken !== undefined),
    );
  }

  /** Whether it waits for others. Then it does not have to make progress. */
  get isWaiting(): boolean {
    if (this.line !== undefined && this.line.first !== this) return true;
    const isBehind = ({ servedSince }: QueuedNode) => servedSince === undefined;
    if (this.#standing(this.currentNodes).some(isBehind)) return true;
    return !this.isQueued && this.#standing(this.gateNodes).some(isBehind);
  }

  /** When it last had a reason to make progress. */
  get changedAt(): number {
    let latest = Times.latest(this.options.startedAt, this.line?.movedAt ?? 0);
    for (const { goneAt = 0, servedSince = 0 } of [...this.nodes, ...this.gateNodes])
      latest = Times.latest(latest, goneAt, servedSince);
    return latest;
  }

  /** The nodes that it stands with: a late create may have made some of another session even later. */
  get ownNodes(): readonly QueuedNode[] {
    const { client, permits } = this.options;
    const session = client.connection.session?.id;
    const own = this.nodes.filter(({ owner }) => owner === session);
    return (own.length > 0 ? own : this.nodes).slice(-permits);
  }

  #standing(nodes: readonly QueuedNode[]): QueuedNode[] {
    const session = this.options.client.connection.session?.id;
    return nodes.filter(({ owner, goneAt }) => owner === session && goneAt === undefined);
  }
}

/** The operation of which the calls are running: it identifies the acquire that sent a request. */
export const currentOperation = new AsyncLocalStorage<Operation>();
