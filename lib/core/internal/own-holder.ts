import { hostname } from 'node:os';
import type { Clock } from '../clock.js';
import type { LockRecipe } from '../lock.js';
import type { LockHolder } from '../lock-holder.js';
import type { ClientHold } from './hold.js';
import type { OrderedSet } from '../collections/ordered-set.js';

const HOST = hostname();

/** Locks that keep all others out, or all writers: of these one holder is the reason of a wait. */
const MODES: Partial<Record<LockRecipe, LockHolder['mode']>> = {
  mutex: 'alone',
  semaphoreMutex: 'alone',
  leaderLatch: 'alone',
  leaderSelector: 'alone',
  readLock: 'read',
  writeLock: 'write',
};

/** Of so many locks held it is looked for among the oldest: many waits may end in one turn, each with a look of its own. */
const EXAMINED = 1_000;

/**
 * Returns the holder of one of the locks with these names on the servers, if it is among the oldest holds of this client; of
 * several readers any. Nothing is asked of the servers.
 */
export function ownHolder(
  { clock, holds }: { readonly clock: Clock; readonly holds: OrderedSet<ClientHold> },
  names: readonly string[],
): LockHolder | undefined {
  for (const { identity, isLive, subject, backend, heldSince } of holds.oldest(EXAMINED)) {
    const mode = MODES[identity.recipe];
    if (mode === undefined || !names.includes(identity.name) || !isLive) continue;
    const since = new Date(Date.now() - (clock.now() - heldSince));
    const { method } = subject;
    return { id: backend.holders[0] ?? '', mode, host: HOST, pid: process.pid, method, since };
  }
  return undefined;
}
