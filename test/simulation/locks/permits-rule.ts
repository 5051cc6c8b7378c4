import type { QueueRule } from '../queue-rule.js';

/**
 * So many of the first nodes hold.
 *
 * @param permits how many there are now, and what else they may be taken for. Lowering them takes nothing away
 */
export function permitsRule(permits: () => readonly [number, ...number[]]): QueueRule {
  let highest = 0;
  return {
    isServed: (node, nodes) => nodes.indexOf(node) < permits()[0],
    isDoubtful(node, nodes) {
      const place = nodes.indexOf(node);
      return permits().some((count) => place < count) && permits().some((count) => place >= count);
    },
    mayHoldTogether: (nodes) => nodes.length <= (highest = Math.max(highest, ...permits())),
    mayFollow: () => true, // those who hold together are told in any order
  };
}
