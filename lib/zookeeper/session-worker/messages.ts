import type { ThreadTime } from '../../core/worker/thread-clock.js';
import type { SessionCredentials } from '../connection/transport.js';
import type { AuthInfo } from '../connection/zookeeper-connection.js';
import type { ZooKeeperSaslOptions } from '../wire/digest-md5.js';
import type { ZooKeeperTlsOptions } from '../wire/tls-options.js';

/** Options of the connection that the worker makes, all of which can be copied. */
export interface WorkerConnectionOptions {
  readonly connect: string;
  readonly tickTime?: number | undefined;
  readonly auth?: readonly AuthInfo[] | undefined;
  readonly tls?: ZooKeeperTlsOptions | undefined;
  readonly sasl?: ZooKeeperSaslOptions | undefined;
}

/** What the worker gets at its start. Times are in ms. */
export interface SessionWorkerStart {
  /** Name of the lock client. */
  readonly client: string;
  readonly options: WorkerConnectionOptions;
  readonly maxStall: number;
  /** Memory of the `SignOfLife`. */
  readonly sign: SharedArrayBuffer;
  /** A moment by the clocks of the main thread. */
  readonly time: ThreadTime;
  /** For {@link SessionMessage} and {@link SessionProof}. */
  readonly port: unknown;
}

/** The session of the main thread now, and whether that is connected to it; `null` while it has none. */
export type SessionMessage = (SessionCredentials & { readonly isConnected: boolean }) | null;

/** A sign of life of the worker in that session, of which the leader has learned. */
export interface SessionProof {
  readonly id: string;
  /** Timeout that the servers have granted to the worker, in ms. */
  readonly timeout: number;
  /** When it was sent, by the clock of the main thread. */
  readonly sentAt: number;
}
