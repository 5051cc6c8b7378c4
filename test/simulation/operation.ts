import type { Lease } from '../../lib/core/lease.js';
import type { ObservedHold } from './observed-hold.js';
import type { QueuedNode } from './queued-node.js';
import type { SimulatedClient } from './simulated-client.js';
import type { Prospect, SimulatedLock } from './simulated-lock.js';
import { Times } from './times.js';
import type { Visit } from './visit.js';

export interface OperationOptions {
  readonly id: number;
  readonly client: SimulatedClient;
  readonly lock: SimulatedLock;
  /** It does not queue. */
  readonly isTry: boolean;
  /** How many nodes it is to hold. */
  readonly permits: number;
  readonly startedAt: number;
  /** Bound of the wait, in milliseconds. */
  readonly wait?: number;
  /** The visit in whose scope it was called. */
  readonly outer?: Visit;
  readonly prospect: Prospect;
}

/** One call of `acquire`, `tryAcquire` or `using`, as its caller sees it. */
export class Operation {
  /** When the caller's signal aborted. */
  abortedAt?: number;
  settledAt?: number;
  /** What it was granted. */
  lease?: Lease;
  hold?: ObservedHold;
  /** Nodes that were made for it in the queue of its lock. */
  readonly nodes: QueuedNode[] = [];
  /** Nodes that were made for it at the gate. */
  readonly gateNodes: QueuedNode[] = [];
  /** What it has asked of the parts of its lock. */
  readonly parts: Operation[] = [];
  /** The paths of its nodes on which its client has set a watch, and when it last read the answer. */
  readonly watchedAt = new Map<string, number>();

  /** What the last request was sent upon, and how many were. */
  #occasion = '';
  #requests = 0;

  constructor(readonly options: OperationOptions) {}

  /** It has sent a request. Returns how many it has sent since anything happened that could be a reason. */
  sent(): number {
    const { client, lock } = this.options;
    const occasion = [client.connectedAt, lock.queue?.changes, lock.gate?.changes].join();
    this.#requests = occasion === this.#occasion ? this.#requests + 1 : 1;
    this.#occasion = occasion;
    return this.#requests;
  }

  /** Does it have all the nodes that it needs, in the session of its client? */
  get isQueued(): boolean {
    return this.#standing(this.currentNodes).length >= this.options.permits;
  }

  /** Those of its nodes that it has made since it last came to the gate: it may still be removing older ones. */
  get currentNodes(): readonly QueuedNode[] {
    const gate = this.gateNodes.at(-1);
    return gate ? this.nodes.filter(({ czxid }) => czxid > gate.czxid) : this.nodes;
  }

  /** Is it its turn at the gate? Or was it, until somebody took its node away. */
  get hasGate(): boolean {
    return this.gateNodes.some(
      ({ wasServed, goneAt, taken }) => wasServed && (goneAt === undefined || taken !== undefined),
    );
  }

  /** Does it wait for others? Then it need not get on. */
  get isWaiting(): boolean {
    const isBehind = ({ servedSince }: QueuedNode) => servedSince === undefined;
    if (this.#standing(this.currentNodes).some(isBehind)) return true;
    return !this.isQueued && this.#standing(this.gateNodes).some(isBehind);
  }

  /** When it last had a reason to get on. */
  get changedAt(): number {
    let latest = this.options.startedAt;
    for (const { goneAt = 0, servedSince = 0 } of [...this.nodes, ...this.gateNodes])
      latest = Times.latest(latest, goneAt, servedSince);
    return latest;
  }

  /** The nodes that it stands with: some of another session may have been made even later, by a create that came late. */
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
