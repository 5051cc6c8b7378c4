import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import {
  LockClientDuplicateError,
  LockClientUnknownError,
  LockOptionsError,
} from '../core/errors/index.js';
import type { LockActivity, LockClient } from '../core/lock-client.js';
import { DEFAULT_LOCK_CLIENT } from '../lock.constants.js';
import { type LockTestingOptions, TestingClient } from './testing-client.js';
import { TestingClock } from './testing-clock.js';

/**
 * The hand of a test on the locks of its app: lets virtual time pass, and makes accidents happen.
 *
 * All clients of the app share one time. Methods that concern one of them take its name last; without, they mean the
 * client that has none.
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
  readonly #clients = new Map<string, TestingClient>();

  /** How much virtual time has passed, in ms. */
  get now(): number {
    return this.#clock.now();
  }

  /**
   * A client of this time, for a test without Nest; call its `connect()` next, and its `close()` at the end.
   *
   * @throws LockOptionsError, LockClientDuplicateError
   */
  createClient(name = DEFAULT_LOCK_CLIENT, options: LockTestingOptions = {}): LockClient {
    if (this.#clients.has(name)) throw new LockClientDuplicateError(name);
    const client = new TestingClient(name, options, this.#clock);
    this.#clients.set(name, client);
    return client.locks;
  }

  /**
   * Lets `ms` of virtual time pass: waits time out, sessions expire. Promises settle before, in between and after, so
   * `advance(0)` only lets what is under way come to where it waits. No timer of Node is touched, real or fake.
   *
   * Not waited for is real I/O: a test that has any awaits that by itself.
   *
   * Rejects with `LockOptionsError` when `ms` is not a finite number from 0 on, and with an `Error` when locks are taken in a
   * loop without a pause, so that promises never settle.
   */
  async advance(ms: number): Promise<void> {
    if (!Number.isFinite(ms) || ms < 0)
      throw new LockOptionsError('ms', ms, 'milliseconds from 0 on');
    await this.#clock.advance(ms);
  }

  /** What is held, with key, kind, method, and for how long in virtual time. */
  held(client?: string): LockActivity[] {
    return this.#activity('held', client);
  }

  /** Which acquires wait, in the order in which they began. */
  waiting(client?: string): LockActivity[] {
    return this.#activity('waiting', client);
  }

  /**
   * Takes the lock of that key away from all who hold it, as an operator does who deletes it on the server: their signals
   * abort with `LockLostError`, and the next in the queue is granted it. Resolves when that has happened.
   *
   * Rejects when nobody holds it, and while the client is suspended.
   */
  loseLease(key: string, client?: string): Promise<void> {
    return this.#client(client).loseLease(key);
  }

  /**
   * Interrupts the connection, until `resume` or `expire`: the state is `SUSPENDED`. Leases stay held for what is left of
   * the session, `sessionTimeout` of virtual time; acquires wait. Resolves when the client knows.
   */
  suspend(client?: string): Promise<void> {
    return this.#client(client).suspend();
  }

  /** Ends `suspend`. Resolves when the state is `RECONNECTED`. */
  resume(client?: string): Promise<void> {
    return this.#client(client).resume();
  }

  /**
   * Expires the session: the state is `LOST`, all leases are lost, a new session follows in which waiters queue again. Ends
   * `suspend`. Resolves when the state is `RECONNECTED`.
   */
  expire(client?: string): Promise<void> {
    return this.#client(client).expire();
  }

  /** Connects what is suspended: locks are given back at shutdown, and no time passes there. */
  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([...this.#clients.values()].map((client) => client.resume()));
  }

  #activity(state: LockActivity['state'], client?: string): LockActivity[] {
    const { locks } = this.#client(client);
    return locks.activity().filter((activity) => activity.state === state);
  }

  #client(name = DEFAULT_LOCK_CLIENT): TestingClient {
    const client = this.#clients.get(name);
    if (!client) throw new LockClientUnknownError(name, [...this.#clients.keys()]);
    return client;
  }
}
