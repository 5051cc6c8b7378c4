import { LockOptionsError } from './errors/index.js';
import { isSameLock } from './is-same-lock.js';
import type { Lock } from './lock.js';

/**
 * The distinct locks, in the order in which everybody has to take them so that nobody waits in a circle: by their names
 * on the servers, which are the same in every process, as UTF-16 code units; those of one name by that of their client.
 *
 * @throws LockOptionsError when there are none, when one is no lock, or when two of them would wait for each other
 */
export function orderedLocks(locks: readonly Lock[]): readonly Lock[] {
  if (locks.length === 0 || !locks.every(isLock))
    throw new LockOptionsError(
      'locks',
      locks,
      'at least one lock, such as [client.mutex(a), client.mutex(b)]',
    );
  const distinct: Lock[] = [];
  for (const lock of locks) {
    const twin = distinct.find((other) => excludes(other, lock));
    if (twin === undefined) distinct.push(lock);
    else if (!isOnce(twin, lock))
      throw new LockOptionsError(
        'locks',
        locks.map(({ key }) => key),
        `each of them once: "${lock.key}" would wait for itself`,
      );
  }
  return distinct.sort(byName);
}

const isLock = (lock: Partial<Lock> | null | undefined) =>
  typeof lock?.acquire === 'function' && typeof lock.identity?.name === 'string';

const excludes = (a: Lock, b: Lock) =>
  a.identity.scope === b.identity.scope && a.identity.name === b.identity.name;

/** To want a lock twice is to want it once; but two permits of a semaphore are not one. */
const isOnce = (a: Lock, b: Lock) =>
  isSameLock(a.identity, b.identity) && a.identity.recipe !== 'semaphore';

function byName({ identity: a }: Lock, { identity: b }: Lock): number {
  return compare(a.name, b.name) || compare(a.client ?? '', b.client ?? '');
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
