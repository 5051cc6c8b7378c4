import { AssertionError } from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { Lease } from '../../core/lease.js';
import type { LockClient } from '../../core/lock-client.js';
import type { AcquireOptions, Lock } from '../../core/lock.js';

/** Counts visits by reading and writing in different turns, as with a database: two concurrent visits lose an update. */
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

/** Options of the backend under test. */
export interface ContractOptions {
  /** Creates a connected client without a default `wait`; called up to twice per test. The contract closes the client. */
  readonly createClient: () => Promise<LockClient> | LockClient;
  /**
   * Whether all clients of `createClient` share their locks. False if each keeps them in its own memory; tests with two
   * clients are then left out.
   *
   * @default true
   */
  readonly isShared?: boolean | undefined;
  /**
   * Whether waiters are served in order of arrival, across all clients. Otherwise this is required only of the waiters of
   * one client.
   *
   * @default true
   */
  readonly isFair?: boolean | undefined;
  /**
   * Time to wait for an expected outcome, in milliseconds; less than the runner's timeout of a test.
   *
   * @default 4000
   */
  readonly patience?: number | undefined;
}

/** Functions of a test runner that a contract needs: Jest, Vitest, Mocha and `node:test` all have them. */
export interface ContractRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
  readonly beforeEach: (body: () => Promise<void>) => unknown;
  readonly afterEach: (body: () => Promise<void>) => unknown;
}

/** Fixture of one contract test: a client, a second one if clients share locks, and keys that are used nowhere else. */
export class ContractStage {
  static #keys = 0;
  readonly key = `contract-${process.pid}-${performance.now().toFixed(3)}-${++ContractStage.#keys}`;
  readonly #clients: LockClient[] = [];

  private constructor(private readonly options: ContractOptions) {}

  /** Sets up a new stage before each test and closes its clients after it; returns a getter of the running test's stage. */
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

  /** Another client, which shares its locks with `mine`. Used only if there is one. */
  get theirs(): LockClient {
    return this.#clients[1]!;
  }

  /** Acquires `lock`; rejects if that takes longer than `patience`. */
  take(lock: Lock, options: AcquireOptions = {}): Promise<Lease> {
    return this.soon(`"${lock.key}" is granted`, lock.acquire(options));
  }

  /** Starts an acquire; resolves when its client has emitted `contended`. */
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
    lease.catch(() => {}); // the caller that awaits it gets the rejection
    try {
      await this.soon(`an acquire of "${lock.key}" has begun to wait`, contended);
    } finally {
      stop();
    }
    return { lease };
  }

  /** Settles like `promise`; rejects if that takes longer than `patience`. */
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

  /** Polls `isTrue` and resolves when it returns true; rejects if that takes longer than `patience`. */
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
