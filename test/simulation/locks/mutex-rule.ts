import type { QueueRule } from '../queue-rule.js';

/** Only the first node holds. */
export const mutexRule: QueueRule = {
  isServed: (node, nodes) => nodes[0] === node,
  mayHoldTogether: (nodes) => nodes.length <= 1,
  mayFollow: (later, earlier) => later.token > earlier.token,
};
