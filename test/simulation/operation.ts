import type { LockQueue } from './lock-queue.js';
import type { ObservedHold } from './observed-hold.js';
import type { QueuedNode } from './queued-node.js';
import type { SimulatedClient } from './simulated-client.js';

export interface OperationOptions {
  readonly id: number;
  readonly client: SimulatedClient;
  readonly queue: LockQueue;
  /** It does not queue. */
  readonly isTry: boolean;
  readonly startedAt: number;
  /** Bound of the wait, in milliseconds. */
  readonly wait?: number;
  /** The live hold around the call, which it has to re-enter. */
  readonly outer?: ObservedHold;
}

/** One call of `acquire`, `tryAcquire` or `using`, as its caller sees it. */
export class Operation {
  /** When the caller's signal aborted. */
  abortedAt?: number;
  settledAt?: number;
  /** What it was granted. */
  hold?: ObservedHold;
  /** Nodes that were made for it. */
  readonly nodes: QueuedNode[] = [];
  /** The node on which its client has set a watch last, and when it read the answer. */
  watched?: { readonly path: string; readonly at: number };

  constructor(readonly options: OperationOptions) {}

  /** The node that it stands with: one of another session may have been made even later, by a create that came late. */
  get node(): QueuedNode | undefined {
    const session = this.options.client.connection.session?.id;
    return this.nodes.findLast(({ owner }) => owner === session) ?? this.nodes.at(-1);
  }
}
