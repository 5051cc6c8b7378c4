import type { Clock, Timer } from '../clock.js';
import { type DeadlockedAcquire, LockDeadlockError } from '../errors/index.js';
import { LeaseScope, type LeaseAround } from '../internal/lease-scope.js';
import { type CircleStep, findCircle, type OuterLock } from './wait-for-graph.js';

/** Pause before a circle is looked for again, in ms: work that is not awaited may wait inside of a lock that is released all the same. */
const CONFIRMED_AFTER = 250;

/** An acquire that waits for others, inside of locks that its caller holds. */
export interface WaitInside {
  readonly client: string;
  /** Identity of the client, as in the identities of its locks. */
  readonly scope: object;
  /** Keys of the locks that it waits for. */
  readonly keys: readonly string[];
  readonly method?: string | undefined;
  /** The leases around it. */
  readonly around: readonly LeaseAround[];
  readonly clock: Clock;
  /** Called if it waits in a circle that nothing in the circle can end, and it is the last to have come. */
  readonly found: (error: LockDeadlockError) => void;
}

/** A lock of a client of this process. */
interface ClientLock extends OuterLock<WaitInside> {
  readonly scope: object;
  readonly key: string;
  readonly inside: Set<WaitInside>;
}

/**
 * The acquires of this process that wait inside of locks, and the circles among them: each waits for a lock under which the next
 * one waits.
 *
 * It knows the locks of scopes only: of `using`, `run` and decorated methods. Permits are left out, as others may be given back.
 *
 * Invariant: a circle is closed by the acquire that comes last, so each needs to look only when it begins to wait.
 */
export class Deadlocks {
  /** Those of this process. */
  static readonly shared = new Deadlocks();
  /** The locks inside of which acquires wait, by client and key. */
  readonly #locks = new WeakMap<object, Map<string, ClientLock>>();

  /** Records that it begins to wait, and looks for a circle; the returned function ends that. */
  enter(wait: WaitInside): () => void {
    const locks = new Set(outerLeases(wait.around).map((lease) => this.#lockOf(lease)));
    for (const { inside } of locks) inside.add(wait);
    let timer: Timer | undefined;
    const isThere = this.#circleOf(wait) !== undefined;
    if (isThere)
      timer = LeaseScope.runOutside(() =>
        wait.clock.setTimer(() => this.#confirm(wait), CONFIRMED_AFTER, true),
      );
    return () => {
      timer?.cancel();
      for (const lock of locks) this.#leave(lock, wait);
    };
  }

  #confirm(wait: WaitInside): void {
    const circle = this.#circleOf(wait);
    if (circle === undefined) return;
    const { client, keys } = wait;
    wait.found(new LockDeadlockError(circle.map(described), { client, key: keys.join(' + ') }));
  }

  /** The acquires of a circle, this one first. */
  #circleOf(start: WaitInside) {
    return findCircle<WaitInside, ClientLock>(start, {
      waitsFor: ({ scope, keys }) =>
        keys
          .map((key) => this.#locks.get(scope)?.get(key))
          .filter((lock): lock is ClientLock => lock !== undefined),
      counts: (wait, lock) => leaseOf(wait, lock) !== undefined,
    });
  }

  #lockOf({ hold: { identity, context } }: LeaseAround): ClientLock {
    const { scope } = identity;
    const key = context.key!;
    const ofScope = this.#locks.get(scope) ?? new Map<string, ClientLock>();
    this.#locks.set(scope, ofScope);
    const lock = ofScope.get(key) ?? { scope, key, inside: new Set<WaitInside>() };
    ofScope.set(key, lock);
    return lock;
  }

  #leave({ scope, key, inside }: ClientLock, wait: WaitInside): void {
    inside.delete(wait);
    if (inside.size > 0) return;
    const ofScope = this.#locks.get(scope);
    ofScope?.delete(key);
    if (ofScope?.size === 0) this.#locks.delete(scope);
  }
}

/** The leases of locks with one holder among them, live or not. */
export function outerLeases(around: readonly LeaseAround[]): readonly LeaseAround[] {
  return around.filter(
    ({ hold: { identity, context } }) =>
      identity.recipe !== 'semaphore' && context.key !== undefined,
  );
}

/** The lease on that lock that it is inside of, if it is still held. */
function leaseOf({ around }: WaitInside, { scope, key }: ClientLock): LeaseAround | undefined {
  return around.find(
    ({ hold: { identity, context }, isHeld }) =>
      isHeld && identity.scope === scope && context.key === key,
  );
}

function described({
  wait,
  holds,
  waitsFor,
}: CircleStep<WaitInside, ClientLock>): DeadlockedAcquire {
  const { client, method } = wait;
  const holder = leaseOf(wait, holds)?.hold.subject.method;
  return { client, method, holds: holds.key, holder, waitsFor: waitsFor.key };
}
