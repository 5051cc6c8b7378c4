import { LockOptionsError } from './errors/index.js';
import { isSameLock } from './is-same-lock.js';
import type { Lock } from './lock.js';

const EXPECTED = 'at least one lock, such as [client.mutex(a), client.mutex(b)]';

/**
 * The distinct locks, in the order in which everybody has to take them so that nobody waits in a circle: by their names
 * on the servers, which are the same in every process, as UTF-16 code units.
 *
 * @throws LockOptionsError when there are none, when one is no lock, or when two of them would wait for each other
 */
export function orderedLocks(locks: readonly Lock[]): readonly Lock[] {
  if (!Array.isArray(locks) || locks.length === 0 || !locks.every(isLock))
    throw new LockOptionsError('locks', locks, EXPECTED);
  const distinct: Lock[] = [];
  for (const lock of locks) {
    if (
      distinct.some(
        ({ identity }) => isOnce(identity.recipe) && isSameLock(identity, lock.identity),
      )
    )
      continue;
    if (distinct.some((other) => excludes(other, lock)))
      throw new LockOptionsError(
        'locks',
        locks.map(({ key }) => key),
        `each of them once: "${lock.key}" would wait for itself`,
      );
    distinct.push(lock);
  }
  return distinct.sort(byName);
}

const isLock = (lock: Partial<Lock> | null | undefined) =>
  typeof lock?.acquire === 'function' && typeof lock.identity?.name === 'string';

/** To want it twice is to want it once; two permits of a semaphore are another thing than one. */
const isOnce = (recipe: string) => recipe !== 'semaphore';

const excludes = (a: Lock, b: Lock) =>
  a.identity.scope === b.identity.scope && a.identity.name === b.identity.name;

function byName({ identity: a }: Lock, { identity: b }: Lock): number {
  if (a.name === b.name) return 0; // on different clients: as they were given
  return a.name < b.name ? -1 : 1;
}
