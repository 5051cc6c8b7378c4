import {
  LockAbortedError,
  LockClientClosedError,
  LockConnectionError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import type { Findings } from './findings.js';

/** How an operation on a number ended: with an answer, without any effect, or without an answer. */
export type Outcome<T> = { readonly answer: T } | 'no effect' | 'unknown';

/** What ends an operation that then has no effect, or only one that is undone. */
const WITHOUT_EFFECT = [LockTimeoutError, LockAbortedError, LockClientClosedError];

/**
 * What a number on the server must be, judging by the outcomes of the operations on it.
 *
 * An operation that ends with a {@link LockConnectionError} with an unknown outcome may have taken effect once, or not at all:
 * it widens the interval of allowed values by its change. All others count exactly.
 */
export class Ledger {
  #lowest: number;
  #highest: number;
  /** Operations that had an effect, and those with an unknown outcome. */
  done = 0;
  unknown = 0;

  constructor(
    readonly key: string,
    start: number,
    private readonly findings: Findings,
  ) {
    this.#lowest = this.#highest = start;
  }

  /**
   * Counts an operation.
   *
   * @param change what it adds to the number when it takes effect
   * @param took whether it took effect, by its answer
   */
  async count<T>(
    operation: Promise<T>,
    change: number,
    took: (answer: T) => boolean = () => true,
  ): Promise<Outcome<T>> {
    const outcome = await outcomeOf(operation, this.findings, this.key);
    if (outcome === 'unknown') {
      this.unknown += 1;
      this.#lowest += Math.min(change, 0);
      this.#highest += Math.max(change, 0);
    } else if (outcome !== 'no effect' && took(outcome.answer)) {
      this.done += 1;
      this.#lowest += change;
      this.#highest += change;
    }
    return outcome;
  }

  /** Whether it may be that number, when all operations have ended. */
  allows(number: number): boolean {
    return this.#lowest <= number && number <= this.#highest;
  }

  toString(): string {
    const { done, unknown } = this;
    const must =
      this.#lowest === this.#highest ? `${this.#lowest}` : `${this.#lowest} to ${this.#highest}`;
    return `${must} (${done} operations, ${unknown} of unknown outcome)`;
  }
}

/** Settles an operation on a number. Errors other than the library's are findings: a caller cannot know what they mean. */
export async function outcomeOf<T>(
  operation: Promise<T>,
  findings: Findings,
  key: string,
): Promise<Outcome<T>> {
  try {
    return { answer: await operation };
  } catch (error) {
    if (WITHOUT_EFFECT.some((type) => error instanceof type)) return 'no effect';
    if (error instanceof LockConnectionError)
      return /unknown/i.test(error.message) ? 'unknown' : 'no effect';
    findings.add('error', `${key}: ${String(error)}`);
    return 'unknown';
  }
}
