import type { QueueRule } from '../queue-rule.js';
import type { QueuedNode } from '../queued-node.js';

const isWriter = ({ name }: QueuedNode) => name === '__WRIT__';
/** A writer, and a reader that took its number while it held: no other node came in between. */
const areOne = (a: QueuedNode, b: QueuedNode) => a.token === b.token;

/** A writer holds when there is no node before it; a reader when there is no writer before it except its own. */
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
    return true; // readers are notified in any order
  },
};
