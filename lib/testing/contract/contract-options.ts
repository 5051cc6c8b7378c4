import type { LockClient } from '../../core/lock-client.js';

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
