import type { Bag } from './bag.js';
import type { ClientHold } from './client-hold.js';
import type { Clock } from './clock.js';
import { heldActivity } from './held-activity.js';
import type { LockActivity } from './lock-activity.js';
import type { WaitScope } from './wait-scope.js';
import { waitingActivity } from './waiting-activity.js';

/** An activity, with the place of a waiter in the queue on the servers. */
export interface PlacedActivity extends LockActivity {
  /** What the servers know a waiter by, once it stands in a queue there. */
  readonly place?: string;
}

/** What the acquires of a client are at, and where. */
export function placedActivityOf(context: {
  readonly clock: Clock;
  readonly holds: Bag<ClientHold>;
  readonly waits: Bag<WaitScope>;
}): PlacedActivity[] {
  const waiting = waitingActivity(context).map(({ activity, place }) => ({ ...activity, place }));
  return [...heldActivity(context), ...waiting];
}
