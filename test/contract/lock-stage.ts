import type { AcquireOptions, Lock } from '../../lib/core/lock.js';
import type { Lease } from '../../lib/core/lease.js';
import type { StageClient, StageClientOptions } from './stage-client.js';

/** What the tests of a suite stand on, whatever the backend: two clients, and a key that no test used before. */
export interface LockStage {
  /** The key of this test. */
  readonly key: string;
  readonly mine: StageClient;
  readonly theirs: StageClient;
  /** The mutex under test. */
  readonly recipe: {
    /** Name of the client in its errors; none where its parts may belong to several. */
    readonly client?: string;
  };
  /** Another client, connected. */
  client(options?: StageClientOptions): Promise<StageClient>;
  /** Has the client queue for the mutex of the test; resolves when it does, with the lease to come. */
  queue(client: StageClient, options?: AcquireOptions): Promise<{ lease: Promise<Lease> }>;
  /** The same for any lock of that client. */
  queueFor(
    lock: Lock,
    client: StageClient,
    options?: AcquireOptions,
  ): Promise<{ lease: Promise<Lease> }>;
  /** The holders of the lock of the test and its waiters, as far as the servers know them. */
  contenders(): Promise<readonly unknown[]>;
  /** All that locks have on the servers, but for what is to stay. */
  remains(): Promise<readonly string[]>;
  /** Resolves when the client has dealt with everything that happened on the servers before this call. */
  caughtUp(client: StageClient): Promise<void>;
  /** The servers forget what the client holds and waits for; resolves when it knows, and is connected. */
  expire(client: StageClient): Promise<void>;
  /** Another client takes the lock of the test from its holder, on the servers. */
  evict(): Promise<void>;
  /** The client makes sure of what it holds, as it does from time to time, where no event notifies it. */
  makeSure(client: StageClient): void;
  /** From now on no client may remove the lock of the test that is held. */
  forbidRemoval(): Promise<void>;
  /** Ends `forbidRemoval`, where it would be in the way of the next test, with what it has left. */
  permitRemoval(): Promise<void>;
  /** The servers go away, and remember everything; resolves when all clients know. */
  down(): Promise<void>;
  /** Ends `down`; resolves when all clients are connected again. */
  up(): Promise<void>;
  /** From now on the servers answer nothing, but keep their connections. */
  freeze(): void;
  /** Ends `freeze`: they go on where they were. */
  thaw(): void;
  /** For the next test. */
  reset(): Promise<void>;
  closeClients(): Promise<void>;
  /** Ends the servers. */
  stop(): Promise<void>;
}
