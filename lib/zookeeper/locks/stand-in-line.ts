import type { LinePlace } from '../../core/collections/waiting-line.js';
import type { LockRecipe } from '../../core/lock.js';
import type { Acquisition } from './acquisition.js';
import type { Handed } from './next-caller.js';
import type { ZooKeeperLease } from './zookeeper-lease.js';

export type Place = LinePlace<Handed>;

/**
 * Waits for the acquires of this client that came before, one of which may give its lock on; otherwise enters the queue. One that
 * may not wait asks for a lock that several can have; an exclusive one is taken.
 *
 * Invariant: an acquire without a hold has left the line; a hold leaves it at its end.
 */
export async function standInLine(
  place: Place,
  { wait, mayWait }: Acquisition,
  recipe: LockRecipe,
  enter: () => Promise<ZooKeeperLease | undefined>,
  take: (handed: Handed) => ZooKeeperLease,
): Promise<ZooKeeperLease | undefined> {
  let lease: ZooKeeperLease | undefined;
  try {
    if (!place.isFirst) {
      place.onHandOff((handed) => {
        if (wait.isOver) return false;
        lease = take(handed);
        wait.handOffs = handed.tenure?.handOffs;
        return true;
      });
      if (lease === undefined && !place.isFirst) {
        if (!mayWait && recipe !== 'readLock') return undefined;
        if (mayWait) {
          wait.contended();
          await wait.untilCalled<void>((moved) => place.onFirst(moved));
          if (recipe === 'readLock') await Promise.resolve(); // those that share a grant learn of it after its first caller
        } else place.leave();
      }
    }
    return (lease ??= await enter());
  } catch (error) {
    if (lease !== undefined) return lease; // it was handed on before the wait ended
    throw error;
  } finally {
    if (lease === undefined) place.leave();
  }
}
