import { randomUUID } from 'node:crypto';
import type { LockName } from './lock-name.js';

/**
 * How long the server remembers the requests of a client after the last one, in ms: longer than the kernel continues to send
 * what was written to an abandoned connection (924 s with Linux' `tcp_retries2` of 15).
 */
export const MEMORY = 960_000;
/** Number of names with numbered requests at a time; beyond it, names without open requests are dropped first. */
const CAPACITY = 10_000;

/**
 * Requests of one client about one name, with increasing numbers.
 *
 * Invariant: a number is never used for two requests, and `first` is not above the number of any request that may be sent
 * again. So the server may reject requests below it.
 */
export class RequestNumbers {
  #next = 1;
  readonly #open = new Set<number>(); // in ascending order

  /** @param record key on the server that remembers the requests */
  constructor(readonly record: string) {}

  get isIdle(): boolean {
    return this.#open.size === 0;
  }

  /** Returns the number of a new request; the caller must `settle` it. */
  next(): number {
    this.#open.add(this.#next);
    return this.#next++;
  }

  /** Marks the request as answered or given up: it is not sent again. */
  settle(number: number): void {
    this.#open.delete(number);
  }

  /** First arguments of each script that must take effect only once. */
  terms(number: number): [number: number, first: number, memory: number] {
    const [first = this.#next] = this.#open;
    return [number, first, MEMORY];
  }
}

/** Request numbers of one client, by name. */
export class RequestRecords {
  readonly #numbers = new Map<string, RequestNumbers>();

  of(name: LockName): RequestNumbers {
    const found = this.#numbers.get(name.redisKey);
    if (found) return found;
    if (this.#numbers.size >= CAPACITY) this.#forgetIdle();
    const numbers = new RequestNumbers(name.requests(randomUUID()));
    this.#numbers.set(name.redisKey, numbers);
    return numbers;
  }

  #forgetIdle(): void {
    for (const [redisKey, numbers] of this.#numbers)
      if (numbers.isIdle) this.#numbers.delete(redisKey);
  }
}
