import type { QueuedNode } from './queued-node.js';

/** In what order a lock serves its queue, and who may hold it together: what a recipe promises. */
export interface QueueRule {
  /** May `node` hold, beside those that stand before it? `nodes` are in their order. */
  isServed(node: QueuedNode, nodes: readonly QueuedNode[]): boolean;
  /** Does that depend on something of which clients may not have heard yet? */
  isDoubtful?(node: QueuedNode, nodes: readonly QueuedNode[]): boolean;
  /** May those nodes be held at the same time? */
  mayHoldTogether(nodes: readonly QueuedNode[]): boolean;
  /** Is a grant to `later` in order when `earlier` was granted before? */
  mayFollow(later: QueuedNode, earlier: QueuedNode): boolean;
}
