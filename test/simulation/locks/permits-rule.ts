import type { QueueRule } from '../queue-rule.js';

/**
 * The first nodes hold, as many as there are permits.
 *
 * @param permits how many there are now, and what else clients may believe. Lowering them takes nothing away
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
    mayFollow: () => true, // those that hold together are notified in any order
  };
}
