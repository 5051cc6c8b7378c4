import type { QueuedNode } from './queued-node.js';

/** The order in which a lock serves its queue, and which nodes may hold together: what a recipe promises. */
export interface QueueRule {
  /** Whether `node` may hold, beside those before it. `nodes` are in their order. */
  isServed(node: QueuedNode, nodes: readonly QueuedNode[]): boolean;
  /** Whether that depends on something of which clients may not have learned yet. */
  isDoubtful?(node: QueuedNode, nodes: readonly QueuedNode[]): boolean;
  /** Whether those nodes may be held at the same time. */
  mayHoldTogether(nodes: readonly QueuedNode[]): boolean;
  /** Whether a grant to `later` is in order when `earlier` was granted before. */
  mayFollow(later: QueuedNode, earlier: QueuedNode): boolean;
}
