import { AssertionError } from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Lease } from '../../core/lease.js';
import type { LockClient } from '../../core/lock-client.js';
import type { AcquireOptions, Lock } from '../../core/lock.js';

/** Counts its visitors by reading and writing in different turns, as a database would: two at once lose an update. */
export class VisitedRoom {
  visits = 0;
  mostAtOnce = 0;
  #inside = 0;

  async visit(): Promise<void> {
    this.#inside += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#inside);
    const { visits } = this;
    await nextTurn();
    this.visits = visits + 1;
    this.#inside -= 1;
  }
}

/** The backend that is held to a contract. */
export interface ContractOptions {
  /** Makes a client that is connected, with no default `wait`; called up to twice a test. The contract closes it. */
  readonly createClient: () => Promise<LockClient> | LockClient;
  /**
   * Do all clients that it makes share their locks? Not so where each has them in its own memory; then nothing is asked of
   * two clients.
   *
   * @default true
   */
  readonly isShared?: boolean;
  /**
   * Are waiters served in the order in which they came, whichever client they are of? Else this is asked of the waiters of
   * one client only.
   *
   * @default true
   */
  readonly isFair?: boolean;
  /**
   * How long what has to happen is waited for, in milliseconds; less than the time that the runner gives a test.
   *
   * @default 4000
   */
  readonly patience?: number;
}

/** What a contract needs of a test runner: Jest, Vitest, Mocha and `node:test` all have it. */
export interface ContractRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
  readonly beforeEach: (body: () => Promise<void>) => unknown;
  readonly afterEach: (body: () => Promise<void>) => unknown;
}

/** What one test of a contract plays on: a client, where they share locks a second one, and keys that nobody else uses. */
export class ContractStage {
  static #keys = 0;
  readonly key = `contract-${process.pid}-${performance.now().toFixed(3)}-${++ContractStage.#keys}`;
  readonly #clients: LockClient[] = [];

  private constructor(private readonly options: ContractOptions) {}

  /** Sets a new stage before each test, and clears it after; returns the one of the test that runs. */
  static of({ beforeEach, afterEach }: ContractRunner, options: ContractOptions) {
    let stage: ContractStage;
    beforeEach(async () => {
      stage = new ContractStage(options);
      await stage.#enter();
    });
    afterEach(() => stage.#leave());
    return () => stage;
  }

  /** The client of the test. */
  get mine(): LockClient {
    return this.#clients[0]!;
  }

  /** Another client that shares its locks. Asked for only where there is one. */
  get theirs(): LockClient {
    return this.#clients[1]!;
  }

  /** Acquires, and waits no longer than the contract is patient. */
  take(lock: Lock, options: AcquireOptions = {}): Promise<Lease> {
    return this.soon(`"${lock.key}" is granted`, lock.acquire(options));
  }

  /** Begins an acquire; resolves when its client has told that somebody is ahead. */
  async queue(
    client: LockClient,
    lock: Lock,
    options: AcquireOptions = {},
  ): Promise<{ readonly lease: Promise<Lease> }> {
    let stop = () => {};
    const contended = new Promise<void>((resolve) => {
      stop = client.on('contended', ({ key }) => void (key === lock.key && resolve()));
    });
    const lease = lock.acquire(options);
    lease.catch(() => {}); // whoever awaits it hears of it
    try {
      await this.soon(`an acquire of "${lock.key}" has begun to wait`, contended);
    } finally {
      stop();
    }
    return { lease };
  }

  /** Settles as `promise` does; rejects when that takes longer than the contract is patient. */
  async soon<T>(what: string, promise: Promise<T>): Promise<T> {
    const { patience = 4_000 } = this.options;
    const stop = new AbortController();
    const late = async () => {
      await delay(patience, undefined, { signal: stop.signal });
      throw new AssertionError({ message: `Not within ${patience} ms: ${what}` });
    };
    const tooLate = late();
    tooLate.catch(() => {});
    try {
      return await Promise.race([promise, tooLate]);
    } finally {
      stop.abort();
    }
  }

  /** Resolves when `isTrue` is, for which it looks again and again. */
  async until(what: string, isTrue: () => Promise<boolean> | boolean): Promise<void> {
    const { patience = 4_000 } = this.options;
    const end = performance.now() + patience;
    while (!(await isTrue())) {
      if (performance.now() > end)
        throw new AssertionError({ message: `Not within ${patience} ms: ${what}` });
      await delay(5);
    }
  }

  async #enter(): Promise<void> {
    const { createClient, isShared = true } = this.options;
    for (let count = isShared ? 2 : 1; count > 0; count--) this.#clients.push(await createClient());
  }

  async #leave(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
  }
}
