import type { Clock } from '../clock.js';
import type { LockActivity, LockClientStatus } from '../lock-client.js';
import type { WaitContext } from './acquire.js';
import type { ClientHold } from './hold.js';
import type { SwapRemoveSet } from './swap-remove-set.js';
import type { WaitScope } from './wait-scope.js';

/** An activity, with the id of a waiter in the queue on the servers. */
export interface QueuedActivity extends LockActivity {
  /** Server-side id of a waiter, once queued. */
  readonly waiterId?: string | undefined;
}

/** State of the acquires of a client, with the ids of queued waiters. */
export function queuedActivity(context: {
  readonly clock: Clock;
  readonly holds: SwapRemoveSet<ClientHold>;
  readonly waits: SwapRemoveSet<WaitScope>;
}): QueuedActivity[] {
  const waiting = waitingActivity(context).map(({ activity, waiterId }) => ({
    ...activity,
    waiterId,
  }));
  return [...heldActivity(context), ...waiting];
}

/** State of the acquires of a client: held locks, then waiting acquires. */
export function clientActivity(context: {
  readonly clock: Clock;
  readonly holds: SwapRemoveSet<ClientHold>;
  readonly waits: SwapRemoveSet<WaitScope>;
}): LockActivity[] {
  const waiting = waitingActivity(context).map(({ activity }) => activity);
  return [...heldActivity(context), ...waiting];
}

/** Locks held by a client, the oldest first. A lost hold does not count, even before it is released. */
function heldActivity({
  clock,
  holds,
}: {
  readonly clock: Clock;
  readonly holds: SwapRemoveSet<ClientHold>;
}): LockActivity[] {
  const now = clock.now();
  return holds
    .inOrder()
    .flatMap(({ isLive, identity, subject, heldSince, backend }): LockActivity[] => {
      const { holders, knownToken: fencingToken } = backend;
      const { name } = identity;
      const forMs = now - heldSince;
      return isLive ? [{ ...subject, state: 'held', forMs, name, holders, fencingToken }] : [];
    });
}

/** Acquires of a client under way, the oldest first, each with its server-side id once queued. */
function waitingActivity({
  waits,
}: {
  readonly waits: SwapRemoveSet<WaitScope>;
}): { readonly activity: LockActivity; readonly waiterId?: string }[] {
  return waits.inOrder().flatMap((wait) => {
    const { subject, elapsed: forMs } = wait;
    if (subject === undefined) return [];
    const activity: LockActivity = { ...subject, state: 'waiting', forMs, holders: [] };
    return [{ activity, waiterId: wait.waiterId?.() }];
  });
}

/** Status of a client with one connection that is in `connectionState`; of a closing one, `CLOSED`. */
export function clientStatus(
  connectionState: string,
  {
    holds,
    waits,
    accepts,
  }: {
    readonly holds: SwapRemoveSet<ClientHold>;
    readonly waits: SwapRemoveSet<WaitScope>;
    readonly accepts: WaitContext['accepts'];
  },
): LockClientStatus {
  const state = accepts === 'none' ? 'CLOSED' : connectionState;
  const held = [...holds].filter(({ isLive }) => isLive).length;
  const waiting = [...waits].filter(({ subject }) => subject !== undefined).length;
  return { health: healthOf(state), state, held, waiting };
}

function healthOf(state: string): LockClientStatus['health'] {
  if (state === 'CONNECTED' || state === 'RECONNECTED') return 'up';
  return state === 'SUSPENDED' || state === 'REFUSED' ? 'degraded' : 'down';
}
