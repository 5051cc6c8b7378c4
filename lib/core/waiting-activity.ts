import type { Bag } from './bag.js';
import type { LockActivity } from './lock-activity.js';
import type { WaitScope } from './wait-scope.js';

/** The acquires of a client that are under way, the oldest first; with what the servers know each by, once it queues there. */
export function waitingActivity({
  waits,
}: {
  readonly waits: Bag<WaitScope>;
}): { readonly activity: LockActivity; readonly place?: string }[] {
  return waits.inOrder().flatMap((wait) => {
    const { subject, elapsed: forMs } = wait;
    if (subject === undefined) return [];
    const activity: LockActivity = { ...subject, state: 'waiting', forMs, holders: [] };
    return [{ activity, place: wait.place?.() }];
  });
}
