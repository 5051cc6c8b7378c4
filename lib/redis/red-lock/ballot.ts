import type { RedisLease } from '../locks/redis-lease.js';
import type { RedisLock } from '../locks/redis-lock.js';

/** Asks one server; rejects when it does not answer in time, or when the signal is aborted. */
export type Ask = (part: RedisLock, signal: AbortSignal) => Promise<RedisLease | undefined>;

/**
 * One question to all servers at the same time. It is won as soon as a majority has granted the lock, and lost as soon as
 * too many others have refused it or not answered.
 *
 * Invariant: every grant is in `leases`, was told to `onGrant`, or is given back by the part itself.
 */
export class Ballot {
  /** Granted so far. */
  readonly leases: RedisLease[] = [];
  /** Those that have answered, in that order. */
  readonly answered: RedisLock[] = [];
  /** Why the others have not. */
  readonly failures: unknown[] = [];
  /** Resolves to whether it is won. */
  readonly decided: Promise<boolean>;
  readonly #abort = new AbortController();
  #decide!: (isWon: boolean) => void;
  #lost = 0;
  #tellGrant?: (lease: RedisLease) => void;

  constructor(
    parts: readonly RedisLock[],
    private readonly majority: number,
    ask: Ask,
  ) {
    this.decided = new Promise((resolve) => (this.#decide = resolve));
    const tolerated = parts.length - majority;
    const refused = () => {
      this.#lost += 1;
      if (this.#lost > tolerated) this.#decide(false);
    };
    for (const part of parts)
      ask(part, this.#abort.signal).then(
        (lease) => {
          this.answered.push(part);
          if (lease) this.#granted(lease);
          else refused();
        },
        (error) => {
          this.failures.push(error);
          refused();
        },
      );
  }

  /** Hands over the leases there are, and those that still come. */
  onGrant(tell: (lease: RedisLease) => void): void {
    this.#tellGrant = tell;
    for (const lease of this.leases) tell(lease);
  }

  /** Asks no longer those that have not answered: what they may have granted is given back by the part itself. */
  stopAsking(): void {
    this.#abort.abort();
  }

  /** Gives back what was granted, and is granted yet. */
  giveBack(): void {
    this.stopAsking();
    this.onGrant((lease) => void lease.release());
  }

  #granted(lease: RedisLease): void {
    if (this.#tellGrant) return this.#tellGrant(lease);
    this.leases.push(lease);
    if (this.leases.length >= this.majority) this.#decide(true);
  }
}

/** The first so many results; fewer when the others have failed. Never rejects. */
export function firstN<T>(count: number, promises: readonly Promise<T>[]): Promise<T[]> {
  return new Promise((resolve) => {
    const results: T[] = [];
    let pending = promises.length;
    const settled = () => {
      pending -= 1;
      if (pending === 0 || results.length >= count) resolve(results);
    };
    if (pending === 0) resolve(results);
    for (const promise of promises)
      promise.then((result) => {
        if (results.length < count) results.push(result);
        settled();
      }, settled);
  });
}
