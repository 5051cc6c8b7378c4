import type { QueueRule } from '../queue-rule.js';

/** So many of the first nodes hold. */
export function permitsRule(permits: number): QueueRule {
  return {
    isServed: (node, nodes) => nodes.indexOf(node) < permits,
    mayHoldTogether: (nodes) => nodes.length <= permits,
    mayFollow: () => true, // those who hold together are told in any order
  };
}
