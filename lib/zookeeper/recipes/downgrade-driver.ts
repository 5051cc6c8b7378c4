import type { LockInternalsDriver, Turn } from './lock-internals-driver.js';
import { readLockDriver } from './read-lock-driver.js';

/**
 * A reader whose caller holds the write lock with the node `writer`, and whose own node takes the number of that one: as
 * in Curator since 5.5, so that no writer that queues comes in between.
 *
 * It is granted at once where both nodes are seen together: so the write lock was held when the reader's was created. If
 * the writer's is missing, somebody else may be writing already.
 */
export function downgradeDriver(writer: string): LockInternalsDriver {
  return {
    ...readLockDriver,
    turnOf(children, own): Turn | undefined {
      const areTogether = children.includes(own) && children.includes(writer);
      return areTogether ? { isNext: false } : undefined;
    },
  };
}
