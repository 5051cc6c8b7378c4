import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import {
  LockClientDuplicateError,
  LockClientUnknownError,
  LockOptionsError,
} from '../core/errors/index.js';
import type { LockActivity, LockClient } from '../core/lock-client.js';
import { DEFAULT_LOCK_CLIENT } from '../lock.constants.js';
import type { RedisLockClient } from '../redis/redis-lock-client.js';
import type { ControlledClient } from './controlled-client.js';
import type { RedisLockTestingOptions } from './redis/redis-testing-client.js';
import { type LockTestingOptions, TestingClient } from './testing-client.js';
import { TestingClock } from './testing-clock.js';

/** Captured at load time, because fake timers of a test runner replace the global ones. */
const { clearInterval, setInterval } = globalThis;

/** Step of virtual time during a shutdown, in ms. */
const PACE = 20;

/**
 * Controls the locks of an app from a test: advances virtual time, and simulates failures.
 *
 * All clients of the app share one virtual clock. Methods for a single client take its name as the last argument, and
 * default to the unnamed client.
 *
 * @example
 * ```ts
 * const locks = app.get(LockTesting);
 * const lost = expect(orders.pay('1')).rejects.toBeInstanceOf(LockLostError);
 * await locks.loseLease('order:1');
 * await lost;
 * ```
 */
@Injectable()
export class LockTesting implements BeforeApplicationShutdown {
  readonly #clock = new TestingClock();
  readonly #clients = new Map<string, ControlledClient>();

  /** Virtual time that has passed, in ms. */
  get now(): number {
    return this.#clock.now();
  }

  /**
   * Creates a client in this virtual time, for a test without Nest; call its `connect()` next, and its `close()` at the end.
   *
   * @throws LockOptionsError, LockClientDuplicateError
   */
  createClient(name = DEFAULT_LOCK_CLIENT, options: LockTestingOptions = {}): LockClient {
    this.#refuseDuplicate(name);
    const client = new TestingClient(name, options, this.#clock);
    this.#clients.set(name, client);
    return client.locks;
  }

  /**
   * As `createClient`, but the client is the one for Redis, with all of its features and its rules: it runs its scripts on a
   * simulated Redis of its own. Needs the npm package `fengari`.
   *
   * Rejects with `LockOptionsError`, `LockClientDuplicateError`, or with `LockConnectionError` when `fengari` is not installed.
   */
  async createRedisClient(
    name = DEFAULT_LOCK_CLIENT,
    options: RedisLockTestingOptions = {},
  ): Promise<RedisLockClient> {
    const { RedisTestingClient } = await import('./redis/redis-testing-client.js');
    const client = await RedisTestingClient.create(name, options, this.#clock);
    this.#refuseDuplicate(name);
    this.#clients.set(name, client);
    return client.locks;
  }

  /**
   * Advances virtual time by `ms`: waits time out, sessions expire. Promises settle before, in between and after, so
   * `advance(0)` only runs pending work up to its next wait. No timer of Node, real or fake, is touched.
   *
   * Real I/O is not waited for: a test that performs any has to await it itself.
   *
   * Rejects with `LockOptionsError` if `ms` is not a finite number of 0 or more, and with an `Error` if locks are acquired in
   * a loop without a pause, so that promises never settle.
   */
  async advance(ms: number): Promise<void> {
    if (!Number.isFinite(ms) || ms < 0)
      throw new LockOptionsError('ms', ms, 'milliseconds from 0 on');
    await this.#clock.advance(ms);
  }

  /** The held locks, with key, kind, method and hold time in virtual time. */
  held(client?: string): LockActivity[] {
    return this.#activity('held', client);
  }

  /** The waiting acquires, in the order in which they started. */
  waiting(client?: string): LockActivity[] {
    return this.#activity('waiting', client);
  }

  /**
   * Removes the lock of that key from all of its holders, as if an operator deleted it on the server: their signals abort
   * with `LockLostError`, and the next waiter is granted the lock. Resolves when that has happened.
   *
   * Rejects if the lock is not held, and while the client is suspended.
   */
  loseLease(key: string, client?: string): Promise<void> {
    return this.#client(client).loseLease(key);
  }

  /**
   * Interrupts the connection, until `resume` or `expire`: the state is `SUSPENDED`. Leases stay held for the remainder of
   * the session, `sessionTimeout` of virtual time, on Redis for the remainder of the `watchdogTimeout` or the `lease`; acquires
   * wait. Resolves when the client has noticed.
   */
  suspend(client?: string): Promise<void> {
    return this.#client(client).suspend();
  }

  /** Ends `suspend`. Resolves when the state is `RECONNECTED`. */
  resume(client?: string): Promise<void> {
    return this.#client(client).resume();
  }

  /**
   * Expires the session: the state is `LOST`, all leases are lost, and a new session follows in which waiters queue again.
   * Ends `suspend`. Resolves when the state is `RECONNECTED`.
   *
   * Redis has no sessions: there, the server restarts without its data, and no state `LOST` is in between.
   */
  expire(client?: string): Promise<void> {
    return this.#client(client).expire();
  }

  /**
   * Reconnects suspended clients, so that locks are released at shutdown. From now on, until all clients are closed, virtual time
   * passes as real time does: Nest waits for requests, and no test advances the bounds on their waits.
   */
  async beforeApplicationShutdown(): Promise<void> {
    const clients = [...this.#clients.values()];
    await Promise.all(clients.map((client) => client.resume()));
    const pass = () => {
      if (clients.every(({ isClosed }) => isClosed)) clearInterval(passing);
      void this.#clock.advance(PACE).catch(() => {});
    };
    const passing = setInterval(pass, PACE).unref();
  }

  #activity(state: LockActivity['state'], client?: string): LockActivity[] {
    const { locks } = this.#client(client);
    return locks.activity().filter((activity) => activity.state === state);
  }

  #refuseDuplicate(name: string): void {
    if (this.#clients.has(name)) throw new LockClientDuplicateError(name);
  }

  #client(name = DEFAULT_LOCK_CLIENT): ControlledClient {
    const client = this.#clients.get(name);
    if (!client) throw new LockClientUnknownError(name, [...this.#clients.keys()]);
    return client;
  }
}
