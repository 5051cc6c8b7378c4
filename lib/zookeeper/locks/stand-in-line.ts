import type { LinePlace } from '../../core/collections/waiting-line.js';
import type { Hold } from '../../core/internal/hold.js';
import type { LockRecipe } from '../../core/lock.js';
import type { Acquisition } from './acquisition.js';
import type { LockHold } from './lock-hold.js';
import type { Handed } from './next-caller.js';

export type Place = LinePlace<Handed>;
export type Held = Hold<LockHold>;

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
  enter: () => Promise<Held | undefined>,
  take: (handed: Handed) => Held,
): Promise<Held | undefined> {
  let hold: Held | undefined;
  try {
    if (!place.isFirst) {
      place.onHandOff((handed) => {
        if (wait.isOver) return false;
        hold = take(handed);
        wait.handOffs = handed.tenure?.handOffs;
        return true;
      });
      if (hold === undefined && !place.isFirst) {
        if (!mayWait && recipe !== 'readLock') return undefined;
        if (mayWait) {
          wait.contended();
          await wait.until(place.first);
        } else place.leave();
      }
    }
    return (hold ??= await enter());
  } catch (error) {
    if (hold !== undefined) return hold; // it was handed on before the wait ended
    throw error;
  } finally {
    if (hold === undefined) place.leave();
  }
}
