import type { Keyspace } from '../../../../lib/testing/redis/server/keyspace.js';
import type { ObservedHold, Request } from './observed-calls.js';
import type { ObservedLock } from './observed-locks.js';

/** The sum of shares is not exact. */
const ROUNDING = 1e-9;

/** What holders of a lock have, and what the server has left, is no more than all of it. Those inside of each other share. Yields what is wrong. */
export function* excluded(holds: Iterable<ObservedHold>, keyspace: Keyspace): Iterable<string> {
  const locks = new Map<string, Map<number, number>>();
  for (const { lock, root } of holds) {
    const shares = locks.get(lock.name.redisKey) ?? new Map<number, number>();
    if (lock.free) shares.set(0, lock.free(keyspace));
    shares.set(root, Math.max(shares.get(root) ?? 0, lock.share));
    locks.set(lock.name.redisKey, shares);
  }
  for (const [key, shares] of locks) {
    const sum = [...shares.values()].reduce((total, share) => total + share);
    if (sum > 1 + ROUNDING) yield `${key} has too many holders: ${[...shares.keys()].join()}`;
  }
}

/** Who asks for what it holds gets it at once. Yields what is wrong. */
export function* waitingForThemselves(requests: Iterable<Request>, now: number): Iterable<string> {
  for (const { id, inside, lock, startedAt } of requests) {
    const isHeld = (part: ObservedLock) =>
      inside.some((hold) => hold.lock === part && !hold.lease.signal.aborted);
    if (startedAt < now && lock.parts.every(isHeld)) yield `request ${id} waits for itself`;
  }
}
