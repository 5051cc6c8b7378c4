import type { LockEvents } from './lock-events.js';
import type { Mutex } from './mutex.js';

/** One connection's worth of locks; injectable as `@InjectLockClient(name)`. */
export interface LockClient {
  /** The name it was registered under; `default` unless given. */
  readonly name: string;
  /**
   * The mutex of that key. Reentrant along the async call tree: see `Lease.run`.
   *
   * @throws LockKeyError when the key cannot name a lock
   */
  mutex(key: string): Mutex;
  /** Listens to what the locks of this client do; the returned function stops it. */
  on<E extends keyof LockEvents>(event: E, listener: (event: LockEvents[E]) => void): () => void;
  /**
   * Connects; resolves when the first lock could be taken.
   *
   * Rejects with `LockConnectionError` when that takes longer than the client's `connectTimeout`, and with
   * `LockClientClosedError` when the client is or gets closed.
   */
  connect(): Promise<void>;
  /**
   * Grants nothing from now on: waiters and new acquires reject with `LockClientClosedError`. Held leases stay, and may
   * still be re-entered, so that running work can finish.
   */
  refuse(): void;
  /**
   * Refuses, releases every lease, waits for the removals still under way, and closes the connection.
   * Ends within `timeout` milliseconds (default 5,000) whatever the server does. Idempotent.
   */
  close(timeout?: number): Promise<void>;
}
