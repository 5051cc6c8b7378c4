import type { Clock, Timer } from '../clock.js';
import { type DeadlockedAcquire, LockDeadlockError } from '../errors/index.js';
import { LeaseScope, type LeaseAround } from './lease-scope.js';

/** Pause before a circle is looked for again, in ms: work that is not awaited may wait inside of a lock that is released all the same. */
const CONFIRMED_AFTER = 250;
/** Most acquires that one search looks at: with more, it finds nothing. */
const MOST = 1_000;

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
  /** Called once if it waits in a circle that nothing of this process can end, and it is the last to have come. */
  readonly found: (error: LockDeadlockError) => void;
}

/**
 * The acquires of this process that wait inside of locks, and the circles among them: each waits for a lock under which the next
 * one waits. A wait-for graph (Coffman et al., System Deadlocks, 1971), of locks with one holder.
 *
 * It knows the locks of scopes only: of `using`, `run` and decorated methods. Permits are left out, as others may be given back.
 *
 * Invariant: a circle is closed by the acquire that comes last, so each needs to look only when it begins to wait.
 */
export class Deadlocks {
  /** Those of this process. */
  static readonly shared = new Deadlocks();
  /** Which acquires wait inside of a lock, by its client and key. */
  readonly #inside = new Map<object, Map<string, Set<WaitInside>>>();

  /** Records that it begins to wait, and looks for a circle; the returned function ends that. */
  enter(wait: WaitInside): () => void {
    for (const { scope, key } of locksAround(wait)) this.#waitsInside(scope, key).add(wait);
    let timer: Timer | undefined;
    const isThere = this.#circleOf(wait) !== undefined;
    if (isThere)
      timer = LeaseScope.runOutside(() =>
        wait.clock.setTimer(() => this.#confirm(wait), CONFIRMED_AFTER, true),
      );
    return () => {
      timer?.cancel();
      for (const { scope, key } of locksAround(wait)) this.#leave(scope, key, wait);
    };
  }

  #confirm(wait: WaitInside): void {
    const circle = this.#circleOf(wait);
    if (circle === undefined) return;
    const { client, keys } = wait;
    wait.found(new LockDeadlockError(circle, { client, key: keys.join(' + ') }));
  }

  /** The acquires of a circle, this one first: each waits for a lock of the next one, and the last for one of the first. */
  #circleOf(start: WaitInside): readonly DeadlockedAcquire[] | undefined {
    const cameFrom = new Map<WaitInside, { readonly wait: WaitInside; readonly key: string }>();
    const queue = [start];
    for (const wait of queue) {
      for (const key of wait.keys)
        for (const other of this.#inside.get(wait.scope)?.get(key) ?? []) {
          if (leaseAround(other, wait.scope, key) === undefined) continue;
          if (other === start) return circleThrough(start, wait, key, cameFrom);
          if (cameFrom.has(other)) continue;
          cameFrom.set(other, { wait, key });
          queue.push(other);
        }
      if (queue.length > MOST) return undefined;
    }
    return undefined;
  }

  #waitsInside(scope: object, key: string): Set<WaitInside> {
    const ofScope = this.#inside.get(scope) ?? new Map<string, Set<WaitInside>>();
    this.#inside.set(scope, ofScope);
    const waits = ofScope.get(key) ?? new Set();
    ofScope.set(key, waits);
    return waits;
  }

  #leave(scope: object, key: string, wait: WaitInside): void {
    const ofScope = this.#inside.get(scope);
    const waits = ofScope?.get(key);
    waits?.delete(wait);
    if (waits?.size === 0) ofScope!.delete(key);
    if (ofScope?.size === 0) this.#inside.delete(scope);
  }
}

/** The locks with one holder around it, live or not. */
function locksAround({ around }: WaitInside): { scope: object; key: string }[] {
  return around.flatMap(({ hold: { identity, context } }) =>
    identity.recipe === 'semaphore' || context.key === undefined
      ? []
      : [{ scope: identity.scope, key: context.key }],
  );
}

/** The lease on that lock that it is inside of, if it is still held. */
function leaseAround({ around }: WaitInside, scope: object, key: string): LeaseAround | undefined {
  return around.find(
    ({ hold: { identity, context }, isHeld }) =>
      isHeld && identity.scope === scope && context.key === key,
  );
}

/** Follows the way back from the last one of a circle, which waits for `key` of the first. */
function circleThrough(
  start: WaitInside,
  last: WaitInside,
  key: string,
  cameFrom: ReadonlyMap<WaitInside, { readonly wait: WaitInside; readonly key: string }>,
): readonly DeadlockedAcquire[] {
  const circle: DeadlockedAcquire[] = [];
  let waitsFor = key;
  for (let wait = last; ;) {
    const before = wait === start ? { wait: last, key } : cameFrom.get(wait)!;
    const { client, method } = wait;
    const { key: holds } = before;
    const holder = leaseAround(wait, before.wait.scope, holds)?.hold.subject.method;
    circle.unshift({ client, method, holds, holder, waitsFor });
    if (wait === start) return circle;
    waitsFor = holds;
    wait = before.wait;
  }
}
