import { randomUUID } from 'node:crypto';
import type { LockName } from '../connection/lock-name.js';

/**
 * How long the server remembers the requests of a client after the last one, in ms: longer than the kernel goes on sending
 * what was written to a connection that was given up (924 s with Linux' `tcp_retries2` of 15).
 */
export const MEMORY = 960_000;
/** Names whose requests are numbered at a time; of more, those that nothing is asked of are forgotten first. */
const CAPACITY = 10_000;

/**
 * The requests of one client about one thing, in numbers that grow.
 *
 * Invariant: a number is never used for two requests, and `first` is not above the number of any request that may be sent
 * again. So the server may refuse what is below it.
 */
export class RequestNumbers {
  #next = 1;
  readonly #open = new Set<number>(); // in the order of the numbers

  /** @param record the key on the server that remembers them */
  constructor(readonly record: string) {}

  get isIdle(): boolean {
    return this.#open.size === 0;
  }

  /** The number of a new request; `settle` it. */
  next(): number {
    this.#open.add(this.#next);
    return this.#next++;
  }

  /** It was answered, or is given up: it is not sent again. */
  settle(number: number): void {
    this.#open.delete(number);
  }

  /** What each script that counts once begins its arguments with. */
  terms(number: number): [number: number, first: number, memory: number] {
    const [first = this.#next] = this.#open;
    return [number, first, MEMORY];
  }
}

/** The numbers of one client's requests, by what they are about. */
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
