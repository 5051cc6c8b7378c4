import type { LockInternalsDriver, Turn } from './lock-internals-driver.js';
import { sortKey } from './sort-key.js';

/**
 * Curator's standard predicate for one holder: the first child holds, everybody else waits for the one before.
 *
 * `isNext`: new nodes only ever come behind us, so when the only node ahead goes there is nothing left to look at.
 * An operator who deletes our own node would make that wrong; the watch on it tells us first (see `NodeWatch`).
 */
export const standardLockInternalsDriver: LockInternalsDriver = {
  lockName: 'lock-',
  turnOf(children, own): Turn | undefined {
    const ownKey = sortKey(own, this.lockName);
    let [ahead, isQueued] = [0, false];
    let [blocker, blockerKey]: [string | undefined, string] = [undefined, ''];
    for (const child of children) {
      const key = sortKey(child, this.lockName);
      if (child === own) isQueued = true;
      if (key > ownKey || (key === ownKey && child >= own)) continue;
      ahead += 1;
      if (blocker === undefined || key > blockerKey) [blocker, blockerKey] = [child, key];
    }
    return isQueued ? { blocker, isNext: ahead === 1 } : undefined;
  },
};
