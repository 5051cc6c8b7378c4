import type { Clock } from '../clock.js';
import type { LockActivity, LockClientStatus } from '../lock-client.js';
import type { WaitContext } from './acquire.js';
import { EventLoopStalls } from './event-loop-stalls.js';
import type { ClientHold } from './hold.js';
import type { OrderedSet } from '../collections/ordered-set.js';
import type { WaitScope } from './wait-scope.js';

/** An activity, with the id of a waiter in the queue on the servers. */
export interface QueuedActivity extends LockActivity {
  /** Server-side id of a waiter, once queued. */
  readonly waiterId?: string | undefined;
}

/** The acquires of a client. */
interface Acquires {
  readonly clock: Clock;
  readonly holds: OrderedSet<ClientHold>;
  readonly waits: OrderedSet<WaitScope>;
  /** Locks kept for the next caller; none where there is no hand-off. */
  readonly kept?: { readonly size: number } | undefined;
}

/** Those acquires of a client that matter most to an operator, and how many others there are. */
export interface UrgentActivity {
  /** Those that wait, and the locks held, in turn: of the locks first those that are waited for, then the oldest. */
  readonly activities: readonly QueuedActivity[];
  /** Number of the others. */
  readonly unlisted: { readonly held: number; readonly waiting: number };
  /** Number of the locks that are endangered, of those that were examined. */
  readonly endangered: number;
  /** Number of locks that no caller holds, kept for the next one. */
  readonly kept: number;
}

/** So many acquires are examined for each that is listed. */
const EXAMINED = 5;

/**
 * The most urgent acquires of a client, at most `most`. Its cost does not depend on the number of the others: the oldest are
 * examined, and the rest is only counted. In that count, a lock that was lost is held until it is released.
 */
export function urgentActivity(
  { clock, holds, waits, kept }: Acquires,
  most: number,
): UrgentActivity {
  const examined = EXAMINED * most;
  const rest = {
    held: Math.max(0, holds.size - examined),
    waiting: Math.max(0, waits.size - examined),
  };
  const waiting = waits.oldest(examined).filter(({ subject }) => subject !== undefined);
  const live = holds.oldest(examined).filter(({ isLive }) => isLive);
  const awaited = new Set(waiting.map(({ subject }) => subject!.key));
  const isAwaited = ({ context }: ClientHold) => awaited.has(context.key);
  const held = [...live.filter(isAwaited), ...live.filter((hold) => !isAwaited(hold))];
  // Each kind has half of the room, and what the other one leaves.
  const listedWaits = waiting.slice(0, Math.max(Math.ceil(most / 2), most - held.length));
  const listedHolds = held.slice(0, most - listedWaits.length);
  const now = clock.now();
  return {
    endangered: count(live, isEndangered),
    kept: kept?.size ?? 0,
    activities: alternately<QueuedActivity>(
      listedWaits.map((wait) => ({ ...waitingActivity(wait)!, waiterId: wait.waiterId?.() })),
      listedHolds.map((hold) => heldActivity(hold, now)),
    ),
    unlisted: {
      held: rest.held + held.length - listedHolds.length,
      waiting: rest.waiting + waiting.length - listedWaits.length,
    },
  };
}

function alternately<T>(some: readonly T[], others: readonly T[]): T[] {
  const longest = Math.max(some.length, others.length);
  const pairs = Array.from({ length: longest }, (_, i) => [some[i], others[i]]);
  return pairs.flat().filter((each) => each !== undefined);
}

/** State of the acquires of a client: held locks, then waiting acquires, the oldest first. Linear in their number. */
export function clientActivity({ clock, holds, waits }: Acquires): LockActivity[] {
  const now = clock.now();
  const held = [...holds].filter(({ isLive }) => isLive).map((hold) => heldActivity(hold, now));
  const waiting = [...waits].map(waitingActivity).filter((activity) => activity !== undefined);
  return [...held, ...waiting];
}

/** A lost hold does not count as held, even before it is released. */
function heldActivity({ identity, subject, heldSince, backend }: ClientHold, now: number) {
  const { holders, knownToken: fencingToken, handOffs } = backend;
  const { name } = identity;
  const forMs = now - heldSince;
  const state = 'held' as const;
  const held = Object.assign(subject, { state, forMs, name, holders, fencingToken });
  return handOffs ? Object.assign(held, { handOffs }) : held;
}

/** `undefined` for a wait of another kind than for a lock. */
function waitingActivity({ subject, elapsed: forMs }: WaitScope): LockActivity | undefined {
  return subject && { ...subject, state: 'waiting', forMs, holders: [] };
}

/** What a client reports of its connection. */
export type ClientHealth = Pick<LockClientStatus, 'health' | 'state'>;

/** Health of a client with one connection that is in `connectionState`; of a closing one, `CLOSED`. */
export function clientHealth(
  connectionState: string,
  accepts: WaitContext['accepts'],
): ClientHealth {
  const state = accepts === 'none' ? 'CLOSED' : connectionState;
  return { health: healthOf(state), state };
}

/** See `LockEvents.endangered`. */
const isEndangered = ({ backend }: ClientHold) => backend.safeForMs !== undefined;

/** How far back stalls of the event loop are reported, in ms. */
export const RECENT = 60_000;

/** What a client reports of its locks and acquires. Linear in the number of both. */
export function acquireStatus({
  holds,
  waits,
  kept,
}: Omit<Acquires, 'clock'>): Pick<
  LockClientStatus,
  'held' | 'kept' | 'waiting' | 'endangered' | 'stall'
> {
  const isForLock = ({ subject }: WaitScope) => subject !== undefined;
  let [held, endangered] = [0, 0];
  for (const hold of holds.walk()) {
    if (!hold.isLive) continue;
    held += 1;
    if (isEndangered(hold)) endangered += 1;
  }
  const waiting = count(waits.walk(), isForLock);
  const stall = EventLoopStalls.shared.longestWithin(RECENT);
  const keeps = kept && kept.size > 0 ? { kept: kept.size } : undefined;
  return {
    held,
    ...keeps,
    waiting,
    ...(endangered > 0 && { endangered }),
    ...(stall && { stall }),
  };
}

function count<T>(items: Iterable<T>, isMeant: (item: T) => boolean): number {
  let found = 0;
  for (const item of items) if (isMeant(item)) found += 1;
  return found;
}

function healthOf(state: string): LockClientStatus['health'] {
  if (state === 'CONNECTED' || state === 'RECONNECTED') return 'up';
  return state === 'SUSPENDED' || state === 'REFUSED' ? 'degraded' : 'down';
}
