import type { RedisLease } from '../locks/redis-lease.js';
import type { RedisLock } from '../locks/redis-lock.js';

/** Asks one server; rejects if it does not answer in time, or if the signal is aborted. */
export type Ask = (part: RedisLock, signal: AbortSignal) => Promise<RedisLease | undefined>;

/**
 * One request to all servers at the same time. It is won as soon as a majority has granted the lock, and lost as soon as too
 * many others have denied it or failed to answer.
 *
 * Invariant: every grant is in `leases`, was passed to `onGrant`, or is released by the part itself.
 */
export class Ballot {
  /** Leases granted so far. */
  readonly leases: RedisLease[] = [];
  /** Parts that have answered, in the order of their answers. */
  readonly answered: RedisLock[] = [];
  /** Errors of the parts that have not answered. */
  readonly failures: unknown[] = [];
  /** Resolves to whether the ballot is won. */
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

  /** Passes on the leases granted so far, and those granted later. */
  onGrant(tell: (lease: RedisLease) => void): void {
    this.#tellGrant = tell;
    for (const lease of this.leases) tell(lease);
  }

  /** Aborts the requests without an answer: what they may have been granted is released by the part itself. */
  stopAsking(): void {
    this.#abort.abort();
  }

  /** Releases the leases granted so far, and those granted later. */
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

/** Resolves to the first `count` results, or to fewer if the others have failed. Never rejects. */
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
