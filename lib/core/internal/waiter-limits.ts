import { LockOptionsError, LockQueueFullError } from '../errors/index.js';
import type { HandOff, MutexOptions, ReadWriteLockOptions } from '../lock.js';
import { handOffOf, sharingOf, validateHandOff } from '../hand-off.js';
import { LeaseScope } from './lease-scope.js';

/** Options about the acquires of one client that wait at the same time, of every backend. */
export interface WaiterLimits {
  /**
   * How many acquires of this client may be under way at the same time, of all keys: a whole number from 1, or `Infinity`. One more
   * rejects with `LockQueueFullError` at once, so that a holder that is stuck does not fill the process with waiting calls (each
   * takes 4 to 8 KB). Not counted are `tryAcquire`, which does not wait, participants of elections, and waits for latches and
   * barriers; a caller that holds the key is not refused.
   *
   * @default 200000
   */
  readonly maxWaiters?: number | undefined;
  /**
   * As `maxWaiters`, but for the acquires of one key. A multi-lock counts for each of its keys.
   *
   * @default 50000
   */
  readonly maxWaitersPerKey?: number | undefined;
  /**
   * What becomes of acquires that wait in a circle, each inside of a lock that another one waits for: `'warn'` emits the event
   * `deadlock` and a process warning, and lets them wait; `'reject'` also rejects the one that came last with `LockDeadlockError`.
   * Only locks of scopes are known (`using`, `run`, decorated methods), and no permits. What is started inside of a lock counts as
   * awaited there, and a reader as waiting for the readers before it: where it is not so, a wait may be rejected that would have ended.
   *
   * A circle within this process is found 250 ms after it closes. One of several processes is found within 3 s, if all its locks
   * are of clients with the same servers and prefix or `basePath`: an acquire that has waited inside of a lock for 1 s exchanges
   * reports with the other clients, of up to 100 of which they are read. Which one came last is decided by the clocks of the hosts,
   * and what becomes of it by the option of its own client. Where the servers do not permit the exchange, no acquire notices.
   *
   * @default 'warn'
   */
  readonly onDeadlock?: 'warn' | 'reject' | undefined;
  /**
   * The `handOff` of mutexes and read/write locks that set none: see `MutexOptions.handOff` and `ReadWriteLockOptions.handOff`.
   * Mutexes that are `fair` or `fenced` ignore it, and read locks its `keep`.
   *
   * @default none
   */
  readonly handOff?: HandOff | false | undefined;
}

const DEFAULTS = { maxWaiters: 200_000, maxWaitersPerKey: 50_000 };

/** @throws LockOptionsError */
export function validateWaiterLimits(limits: WaiterLimits, client: string): void {
  const { onDeadlock = 'warn', handOff } = limits;
  validateHandOff(handOff, { client });
  if (onDeadlock !== 'warn' && onDeadlock !== 'reject')
    throw new LockOptionsError('onDeadlock', onDeadlock, "'warn' or 'reject'", { client });
  for (const option of ['maxWaiters', 'maxWaitersPerKey'] as const) {
    const { [option]: most = Infinity } = limits;
    const isLimit = most === Infinity || (Number.isInteger(most) && most >= 1);
    if (!isLimit)
      throw new LockOptionsError(option, most, 'a whole number from 1, or Infinity', { client });
  }
}

/** Number of keys without an acquire whose entries stay. */
const MOST_IDLE = 1_000;

/**
 * The acquires of one client that wait or are about to, counted by key.
 *
 * Invariant: a key with an acquire under way has an entry; of the other entries there are at most `MOST_IDLE`, or as many as of
 * those. They stay because a `Map` from which each cycle removes what it has added leaves garbage of long life (see
 * `SwapRemoveSet`).
 */
export class Waiters {
  /** See `WaiterLimits`. */
  readonly onDeadlock: 'warn' | 'reject';
  readonly #handOff: WaiterLimits['handOff'];
  readonly #limits: typeof DEFAULTS;
  #ofKey = new Map<string, number>();
  #idle = 0;
  #count = 0;

  constructor(
    private readonly client: string,
    { maxWaiters, maxWaitersPerKey, onDeadlock = 'warn', handOff }: WaiterLimits,
  ) {
    this.onDeadlock = onDeadlock;
    this.#handOff = handOff;
    this.#limits = {
      maxWaiters: maxWaiters ?? DEFAULTS.maxWaiters,
      maxWaitersPerKey: maxWaitersPerKey ?? DEFAULTS.maxWaitersPerKey,
    };
  }

  /**
   * Bounds within which the mutex of that key goes from caller to caller; see `MutexOptions.handOff`.
   *
   * @throws LockOptionsError
   */
  handOffOf(key: string, options: MutexOptions): HandOff | undefined {
    return handOffOf(options, this.#handOff, { key, client: this.client });
  }

  /**
   * Bounds within which callers share the read lock of that key; see `ReadWriteLockOptions.handOff`.
   *
   * @throws LockOptionsError
   */
  sharingOf(key: string, options: ReadWriteLockOptions): HandOff | undefined {
    return sharingOf(options, this.#handOff, { key, client: this.client });
  }

  /** Number of acquires. */
  get count(): number {
    return this.#count;
  }

  /** Number of keys in its memory. */
  get keys(): number {
    return this.#ofKey.size;
  }

  /**
   * Counts an acquire of those keys, until it leaves.
   *
   * @throws LockQueueFullError, having counted nothing
   */
  enter(keys: readonly string[]): void {
    for (const key of keys) this.#refuseIfFull(key);
    this.#count += 1;
    for (const key of keys) this.#add(key);
  }

  /** Called once for each acquire that has entered, with the same keys. */
  leave(keys: readonly string[]): void {
    this.#count -= 1;
    for (const key of keys) {
      const others = this.#waitingFor(key) - 1;
      this.#ofKey.set(key, others);
      if (others === 0) this.#idle += 1;
    }
    if (this.#idle > Math.max(MOST_IDLE, this.#ofKey.size / 2)) this.#forgetIdle();
  }

  /** Does not refuse a holder of the key: it re-enters or downgrades, and the lock would not be released before that. */
  #refuseIfFull(key: string): void {
    const { client } = this;
    for (const [option, waiting] of [
      ['maxWaitersPerKey', this.#waitingFor(key)],
      ['maxWaiters', this.#count],
    ] as const) {
      if (waiting < this.#limits[option] || LeaseScope.isInsideKey(client, key)) continue;
      throw new LockQueueFullError(option, waiting, { key, client });
    }
  }

  #waitingFor(key: string): number {
    return this.#ofKey.get(key) ?? 0;
  }

  #add(key: string): void {
    const others = this.#ofKey.get(key);
    if (others === 0) this.#idle -= 1;
    this.#ofKey.set(key, (others ?? 0) + 1);
  }

  #forgetIdle(): void {
    this.#ofKey = new Map([...this.#ofKey].filter(([, waiting]) => waiting > 0));
    this.#idle = 0;
  }
}
