/**
 * When the main thread last showed a sign of life, in memory that its worker thread reads: so it is known however busy either
 * of them is. In ms by the clock of the main thread.
 */
export class SignOfLife {
  /** In microseconds: only integers are read and written as a whole. */
  readonly #at: BigInt64Array;

  /** @param memory that of the other thread */
  constructor(readonly memory = new SharedArrayBuffer(8)) {
    this.#at = new BigInt64Array(memory);
  }

  get at(): number {
    return Number(Atomics.load(this.#at, 0)) / 1_000;
  }

  give(now: number): void {
    Atomics.store(this.#at, 0, BigInt(Math.floor(now * 1_000)));
  }
}

/** How often the main thread shows it, and the worker looks, in ms. */
export function beatOf(watchdogTimeout: number): number {
  return Math.min(250, watchdogTimeout / 12);
}
