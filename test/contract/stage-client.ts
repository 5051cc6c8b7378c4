import type { Lock, Mutex, Wait } from '../../lib/core/lock.js';
import type { LockClient } from '../../lib/core/lock-client.js';

export interface StageClientOptions {
  /** Default: `'forever'`. */
  readonly wait?: Wait;
  /** Its keys are kept apart from those of clients in another one. Default: none. */
  readonly namespace?: string;
}

/** A lock client of a test, whatever the backend. */
export interface StageClient {
  readonly locks: LockClient;
  /** What it has asked the servers so far, but for keeping up its connection and its leases. */
  readonly requests: readonly unknown[];
  /** The mutex under test. */
  lock(key: string): Mutex;
  /** One half of a read/write lock. */
  half(which: 'read' | 'write', key: string): Lock;
  readLock(key: string): Lock;
  writeLock(key: string): Lock;
}
