import type { LockSubject } from '../lock-events.js';

/** Property of what `unfinished` of a client lists; the same in all copies of this package. */
const FINISH: unique symbol = Symbol.for('nestjs-interlock:finish');

/** Work under a lock, as `unfinished` of a client lists it. */
export interface ListedWork extends LockSubject {
  /** Resolves when the work has ended; if it leads, its signal aborts now. No caller is refused meanwhile. */
  readonly [FINISH]: () => Promise<void>;
}

export function listWork(lock: LockSubject, finish: () => Promise<void>): ListedWork {
  return Object.assign(lock, { [FINISH]: finish });
}

/** Resolves when all of that work has ended. That of a client of another package counts as ended, as there is no way to know its end. */
export async function finishWork(works: readonly LockSubject[]): Promise<void> {
  await Promise.all(works.map(async (work) => await (work as Partial<ListedWork>)[FINISH]?.()));
}
