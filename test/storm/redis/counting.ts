import { setTimeout as delay } from 'node:timers/promises';
import {
  LockAbortedError,
  LockClientClosedError,
  LockConnectionError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import type { RedisSemaphore } from '../../../lib/redis/semaphores/redis-semaphore.js';
import type { CommandLog, Findings } from './findings.js';
import type { StormClient } from './redis-storm.js';

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

const GATE_COUNT = 3;

/** Runs one operation after the other on a number until it is over; resolves to their number. */
export async function keepOn(
  random: () => number,
  isOver: () => boolean,
  operate: () => Promise<unknown>,
): Promise<number> {
  let count = 0;
  while (!isOver()) {
    await delay(10 + random() * 100);
    await operate();
    count += 1;
  }
  return count;
}

/** Releases and acquires permits without owners, of which there are always enough. */
export function changePool(
  pool: RedisSemaphore,
  ledger: Ledger,
  random: () => number,
): Promise<Outcome<unknown>> {
  const permits = 1 + Math.floor(random() * 3);
  const kind = random();
  if (kind < 0.35) return ledger.count(pool.release(permits), permits);
  if (kind < 0.7) return ledger.count(pool.tryAcquire({ permits }), -permits, (taken) => taken);
  const sign = random() < 0.5 ? 1 : -1;
  return ledger.count(pool.addPermits(sign * permits), sign * permits);
}

/** Acquires scarce permits without owners, and releases them; finds it when more are held than exist. */
export class PlainVisits {
  #taken = 0;
  #most: number;

  constructor(
    private readonly limit: number,
    private readonly ledger: Ledger,
    private readonly findings: Findings,
  ) {
    this.#most = limit;
  }

  async visit(semaphore: RedisSemaphore, random: () => number): Promise<void> {
    const permits = 1 + Math.floor(random() * (this.limit - 1));
    const signal = random() < 0.2 ? AbortSignal.timeout(Math.floor(random() * 300)) : undefined;
    const wait = 50 + random() * 2_000;
    const taking = semaphore.acquire({ permits, wait, signal });
    const outcome = await this.ledger.count(taking, -permits);
    if (typeof outcome === 'string') return;
    this.#taken += permits;
    if (this.#taken > this.#most)
      this.findings.add('permits', `${semaphore.key}: ${this.#taken} taken of ${this.limit}`);
    this.#most = Math.max(this.#most, this.#taken); // reported once
    await delay(random() * 50);
    this.#taken -= permits;
    await this.ledger.count(semaphore.release(permits), permits);
  }
}

/**
 * Closes a latch, counts it down and goes through, again and again. After an operation of unknown outcome, which may take
 * effect later, it continues with another latch.
 */
export class Gates {
  /** How often a latch was opened. */
  opened = 0;
  /** The latches that it has abandoned. */
  readonly left: string[] = [];
  #rounds = 0;

  constructor(
    private readonly clients: readonly StormClient[],
    private readonly findings: Findings,
    private readonly log: CommandLog,
    private readonly random: () => number,
  ) {}

  /** Closes the current latch, and opens it. */
  async round(): Promise<void> {
    const key = `gate${this.left.length + 1}`;
    const since = performance.now();
    const waiting = new AbortController();
    const fault = await this.#round(key, waiting.signal);
    waiting.abort();
    if (fault === undefined) return void (this.opened += 1);
    this.left.push(key);
    if (fault === 'unknown' || this.log.isStale(key, since)) return; // the answer of a replica may be out of date
    const zero = performance.now() - this.findings.now;
    this.findings.add('latch', `${key} ${fault}`, () => this.log.story(key, zero, [], 25));
  }

  /** What was wrong in one round, if anything. */
  async #round(key: string, signal: AbortSignal): Promise<string | undefined> {
    const outcome = <T>(operation: Promise<T>) => outcomeOf(operation, this.findings, key);
    const setter = this.clients[this.#rounds++ % this.clients.length]!.locks.countDownLatch(key);
    const closed = await outcome(setter.trySetCount(GATE_COUNT));
    if (typeof closed === 'string') return 'unknown';
    if (!closed.answer) return 'is closed, although it was counted down to 0';

    const left: number[] = [];
    let begun = 0;
    const through = outcome(setter.await({ wait: 20_000, signal }).then(() => begun));
    while (begun < GATE_COUNT) {
      await delay(this.random() * 60);
      const { locks } = this.clients[Math.floor(this.random() * this.clients.length)]!;
      begun += 1;
      const counted = await outcome(locks.countDownLatch(key).countDown());
      if (typeof counted === 'string') return 'unknown';
      left.push(counted.answer);
    }
    if (left.join() !== '2,1,0') return `counts ${left.join()} instead of 2,1,0`;
    const opened = await through;
    if (typeof opened === 'string') return 'unknown';
    return opened.answer < GATE_COUNT ? `opens after ${opened.answer} of ${GATE_COUNT}` : undefined;
  }
}
