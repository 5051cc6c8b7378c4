import { mutexRule } from '../locks/mutex-rule.js';
import type { QueueRule } from '../queue-rule.js';

/** Only the first node leads; after an interruption it may lead again, on the same node. */
export const electionRule: QueueRule = {
  ...mutexRule,
  mayFollow: (later, earlier) => later.token >= earlier.token,
};
