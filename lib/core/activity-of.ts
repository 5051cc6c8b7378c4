import type { Bag } from './bag.js';
import type { ClientHold } from './client-hold.js';
import type { Clock } from './clock.js';
import { heldActivity } from './held-activity.js';
import type { LockActivity } from './lock-activity.js';
import type { WaitScope } from './wait-scope.js';
import { waitingActivity } from './waiting-activity.js';

/** What the acquires of a client are at: what is held, then what is waited for. */
export function activityOf(context: {
  readonly clock: Clock;
  readonly holds: Bag<ClientHold>;
  readonly waits: Bag<WaitScope>;
}): LockActivity[] {
  const waiting = waitingActivity(context).map(({ activity }) => activity);
  return [...heldActivity(context), ...waiting];
}
