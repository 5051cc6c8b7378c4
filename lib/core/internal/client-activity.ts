import type { Clock } from '../clock.js';
import type { LockActivity, LockClientStatus } from '../lock-client.js';
import type { ClientHold } from './hold.js';
import type { SwapRemoveSet } from './swap-remove-set.js';
import type { WaitScope } from './wait-scope.js';

/** An activity, with the place of a waiter in the queue on the servers. */
export interface QueuedActivity extends LockActivity {
  /** What the servers know a waiter by, once it stands in a queue there. */
  readonly waiterId?: string;
}

/** What the acquires of a client are at, and where. */
export function queuedActivity(context: {
  readonly clock: Clock;
  readonly holds: SwapRemoveSet<ClientHold>;
  readonly waits: SwapRemoveSet<WaitScope>;
}): QueuedActivity[] {
  const waiting = waitingActivity(context).map(({ activity, place }) => ({ ...activity, place }));
  return [...heldActivity(context), ...waiting];
}

/** What the acquires of a client are at: what is held, then what is waited for. */
export function clientActivity(context: {
  readonly clock: Clock;
  readonly holds: SwapRemoveSet<ClientHold>;
  readonly waits: SwapRemoveSet<WaitScope>;
}): LockActivity[] {
  const waiting = waitingActivity(context).map(({ activity }) => activity);
  return [...heldActivity(context), ...waiting];
}

/** What a client holds, the oldest first. A hold that was lost is none, also before it is given back. */
export function heldActivity({
  clock,
  holds,
}: {
  readonly clock: Clock;
  readonly holds: SwapRemoveSet<ClientHold>;
}): LockActivity[] {
  const now = clock.now();
  return holds.inOrder().flatMap(({ isLive, identity, subject, backend }): LockActivity[] => {
    const { heldSince, holders, knownToken: fencingToken } = backend;
    const { name } = identity;
    const forMs = now - heldSince;
    return isLive ? [{ ...subject, state: 'held', forMs, name, holders, fencingToken }] : [];
  });
}

/** The acquires of a client that are under way, the oldest first; with what the servers know each by, once it queues there. */
export function waitingActivity({
  waits,
}: {
  readonly waits: SwapRemoveSet<WaitScope>;
}): { readonly activity: LockActivity; readonly place?: string }[] {
  return waits.inOrder().flatMap((wait) => {
    const { subject, elapsed: forMs } = wait;
    if (subject === undefined) return [];
    const activity: LockActivity = { ...subject, state: 'waiting', forMs, holders: [] };
    return [{ activity, place: wait.waiterId?.() }];
  });
}

/** Status of a client with one connection, in that state. */
export function clientStatus(
  state: string,
  {
    holds,
    waits,
  }: { readonly holds: SwapRemoveSet<ClientHold>; readonly waits: SwapRemoveSet<WaitScope> },
): LockClientStatus {
  const held = [...holds].filter(({ isLive }) => isLive).length;
  const waiting = [...waits].filter(({ subject }) => subject !== undefined).length;
  return { health: healthOf(state), state, held, waiting };
}

function healthOf(state: string): LockClientStatus['health'] {
  if (state === 'CONNECTED' || state === 'RECONNECTED') return 'up';
  return state === 'SUSPENDED' || state === 'REFUSED' ? 'degraded' : 'down';
}
