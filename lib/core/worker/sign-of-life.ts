import type { Clock } from '../clock.js';

/**
 * When the main thread last showed a sign of life, and how long the machine has slept by its clock, in memory that its worker thread
 * reads: so it is known however busy either of them is. In ms by the clock of the main thread.
 */
export class SignOfLife {
  /** In microseconds: only integers are read and written as a whole. */
  readonly #numbers: BigInt64Array;

  /** @param memory that of the other thread */
  constructor(readonly memory = new SharedArrayBuffer(16)) {
    this.#numbers = new BigInt64Array(memory);
  }

  get at(): number {
    return this.#read(0);
  }

  get slept(): number {
    return this.#read(1);
  }

  give(clock: Clock): void {
    const slept = clock.noticeSleep?.() ?? 0;
    // In this order: what the worker reads in between is a sign from its future, not one that is hours old.
    this.#write(0, clock.now());
    this.#write(1, slept);
  }

  #read(index: number): number {
    return Number(Atomics.load(this.#numbers, index)) / 1_000;
  }

  #write(index: number, ms: number): void {
    Atomics.store(this.#numbers, index, BigInt(Math.floor(ms * 1_000)));
  }
}

/** How often the main thread shows it, and the worker looks, in ms. */
export function beatOf(timeout: number): number {
  return Math.min(250, timeout / 12);
}
