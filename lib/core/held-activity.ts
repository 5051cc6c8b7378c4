import type { Bag } from './bag.js';
import type { ClientHold } from './client-hold.js';
import type { Clock } from './clock.js';
import type { LockActivity } from './lock-activity.js';

/** What a client holds, the oldest first. A hold that was lost is none, also before it is given back. */
export function heldActivity({
  clock,
  holds,
}: {
  readonly clock: Clock;
  readonly holds: Bag<ClientHold>;
}): LockActivity[] {
  const now = clock.now();
  return holds.inOrder().flatMap(({ isLive, identity, subject, backend }): LockActivity[] => {
    const { heldSince, holders, knownToken: fencingToken } = backend;
    const { name } = identity;
    const forMs = now - heldSince;
    return isLive ? [{ ...subject, state: 'held', forMs, name, holders, fencingToken }] : [];
  });
}
