import type { QueueRule } from '../queue-rule.js';
import type { QueuedNode } from '../queued-node.js';

const isWriter = ({ name }: QueuedNode) => name === '__WRIT__';
/** A writer, and a reader that has taken its number while it was there: nobody came in between. */
const areOne = (a: QueuedNode, b: QueuedNode) => a.token === b.token;

/** A writer holds when nobody stands before it; a reader when no writer does but the one that it was itself. */
export const readWriteRule: QueueRule = {
  isServed(node, nodes) {
    const before = nodes.slice(0, nodes.indexOf(node)).filter((other) => !areOne(node, other));
    return isWriter(node) ? before.length === 0 : !before.some(isWriter);
  },
  mayHoldTogether(nodes) {
    const writer = nodes.find(isWriter);
    return (
      !writer || nodes.every((node) => node === writer || (areOne(node, writer) && !isWriter(node)))
    );
  },
  mayFollow(later, earlier) {
    if (isWriter(later) || isWriter(earlier))
      return later.token > earlier.token || (areOne(later, earlier) && !isWriter(later));
    return true; // readers are told in any order
  },
};
