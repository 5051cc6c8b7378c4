import { LockOptionsError } from '../errors/index.js';
import type { GuardedWrite, Lease } from '../lease.js';
import {
  type AcquireOptions,
  isSameLock,
  type Lock,
  type LockIdentity,
  type LockScope,
} from '../lock.js';
import { noOneStore } from './guard.js';
import { Hold, type HoldBackend } from './hold.js';
import { LeaseHandle } from './lease-handle.js';
import { LeaseScope } from './lease-scope.js';
import { onAbort } from './timers.js';

/** Several leases held as one: lost as soon as one of them is, released together. */
export class MultiHold implements HoldBackend {
  readonly hold: Hold<MultiHold>;
  readonly parts: readonly Hold[];
  readonly #stopListening: (() => void)[];

  /** @param leases in the order in which they were acquired */
  constructor(
    identity: LockIdentity,
    key: string,
    private readonly leases: readonly Lease[],
  ) {
    this.parts = leases.filter(isOurs).map(({ hold }) => hold);
    this.hold = new Hold(identity, { key }, this);
    this.#stopListening = leases.map((lease) =>
      onLost(lease, () => this.hold.markLost(`its part "${lease.key}" was lost`)),
    );
  }

  isExclusive(): boolean {
    return this.leases.every(({ isHeld }) => isHeld);
  }

  /** The token of each part grows with every grant, so the greatest of them does too, for the same parts. */
  async fencingToken(): Promise<bigint> {
    const tokens = await Promise.all(this.leases.map((lease) => lease.fencingToken()));
    return tokens.reduce((greatest, token) => (token > greatest ? token : greatest));
  }

  lost(): void {}

  async free(): Promise<void> {
    for (const stop of this.#stopListening) stop();
    await Promise.allSettled(this.leases.toReversed().map((lease) => lease.release()));
  }
}

/** Calls the listener when the lease is lost, at once if it is already; the returned function removes it. */
function onLost(lease: Lease, tell: () => void): () => void {
  if (isOurs(lease)) {
    if (lease.hold.lost) tell();
    return lease.hold.onLost(tell);
  }
  const { signal } = lease; // a lease of another copy of this package; the branch above saves an AbortController
  return onAbort(signal, tell);
}

/**
 * The distinct locks, in the order in which every client must acquire them to avoid deadlock: by their names on the servers,
 * which are the same in every process, as UTF-16 code units; locks of the same name by the name of their client.
 *
 * @throws LockOptionsError when there are none, when one is not a lock, or when two of them would wait for each other
 */
export function orderedLocks(locks: readonly Lock[]): readonly Lock[] {
  if (locks.length === 0 || !locks.every(isLock))
    throw new LockOptionsError(
      'locks',
      locks,
      'at least one lock, such as [client.mutex(a), client.mutex(b)]',
    );
  const distinct: Lock[] = [];
  const byNameOf = new Map<string, Lock[]>();
  for (const lock of locks) {
    const { name } = lock.identity;
    const namesakes = byNameOf.get(name) ?? [];
    const twin = namesakes.find((other) => excludes(other, lock));
    if (twin === undefined) {
      distinct.push(lock);
      namesakes.push(lock);
      byNameOf.set(name, namesakes);
    } else if (!isOnce(twin, lock))
      throw new LockOptionsError(
        'locks',
        locks.map(({ key }) => key),
        `each of them once: "${lock.key}" would wait for itself${clientsOf(twin, lock)}`,
      );
  }
  return distinct.sort(byName);
}

const isLock = (lock: Partial<Lock> | null | undefined) =>
  typeof lock?.acquire === 'function' && typeof lock.identity?.name === 'string';

/** Whether two locks of one name are on the same servers, as far as that is known now. */
const excludes = ({ identity: { scope: a } }: Lock, { identity: { scope: b } }: Lock) =>
  a === b || haveServerInCommon(a, b);

function haveServerInCommon(a: LockScope, b: LockScope): boolean {
  const ids = a.serverIds?.() ?? [];
  return ids.length > 0 && (b.serverIds?.() ?? []).some((id) => ids.includes(id));
}

/** The clients of two locks, if they are different ones. */
function clientsOf({ identity: a }: Lock, { identity: b }: Lock): string {
  if (a.scope === b.scope) return '';
  return `, as the clients "${a.client}" and "${b.client}" use the same servers`;
}

/**
 * Whether two of the ordered locks have one name, on clients whose servers may turn out to be the same once these are connected.
 */
export function mayBeTwins(locks: readonly Lock[]): boolean {
  return locks.some(({ identity }, i) => i > 0 && identity.name === locks[i - 1]!.identity.name);
}

/** Whether a duplicate counts once: true for the same lock, except that two permits of a semaphore are distinct. */
const isOnce = (a: Lock, b: Lock) =>
  isSameLock(a.identity, b.identity) && a.identity.recipe !== 'semaphore';

function byName({ identity: a }: Lock, { identity: b }: Lock): number {
  return compare(a.name, b.name) || compare(a.client ?? '', b.client ?? '');
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Not of another copy of this package. */
const isOurs = (lease: Lease): lease is LeaseHandle => lease instanceof LeaseHandle;

const PARTS = Symbol('parts');

/** Options for the acquire of one part: it waits inside of the leases of the others, which it does not re-enter. */
export function besideParts(options: AcquireOptions, leases: readonly Lease[]): AcquireOptions {
  return Object.assign({ [PARTS]: leases }, options);
}

/** So many parts are looked at: each that is contended looks at those before it. */
const MOST_PARTS = 1_000;

/** The leases of the other parts, if the options are those of a part. */
export function partsHeld(options: AcquireOptions & { [PARTS]?: readonly Lease[] }): LeaseHandle[] {
  return options[PARTS]?.slice(0, MOST_PARTS).filter(isOurs) ?? [];
}

/** The lease of a `MultiLock`. It is lost when one of its parts is lost, or was released on its own. */
export class MultiLease extends LeaseHandle<MultiHold> {
  constructor(
    hold: Hold<MultiHold>,
    /** Leases of the parts, in the order of their names. */
    readonly leases: readonly Lease[],
  ) {
    super(hold);
  }

  /** As `Lease.guard`: every part is checked. */
  override async guard<R>(write: GuardedWrite<R>): Promise<R> {
    this.assertHeld();
    if (this.leases.every(isOurs)) return await super.guard(write);
    throw noOneStore(write, this.hold.context);
  }

  /** As `Lease.run`; inside, acquires of each part re-enter that part. */
  override async run<T>(fn: () => Promise<T> | T): Promise<T> {
    this.assertHeld();
    const scopes = this.leases.filter(isOurs).map(({ scoped }) => scoped); // in use as parts of the whole
    const whole = () => LeaseScope.runWithAll(scopes, () => super.run(fn));
    const others = this.leases.filter((lease) => !isOurs(lease)); // of other copies of this package
    return await others.reduceRight((inner, lease) => () => lease.run(inner), whole)();
  }
}
