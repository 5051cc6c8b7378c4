import type {
  AuthInfo,
  ZooKeeperConnection,
} from '../../lib/zookeeper/connection/zookeeper-connection.js';
import type { NetworkFaults } from './network-faults.js';

/** A server with the connections of one suite, none of which has been started. */
export interface ConnectionEnvironment {
  connection(options?: TestConnectionOptions): Promise<ZooKeeperConnection>;
  /** A connection that accidents may happen to. Cut it before you close it: the farewell may take long. */
  faultyConnection(
    options?: TestConnectionOptions,
  ): Promise<{ connection: ZooKeeperConnection; network: NetworkFaults }>;
  /** The server expires that session, while its client cannot reach it. */
  expire(connection: ZooKeeperConnection, network: NetworkFaults): Promise<void>;
  /** Has the server look for empty containers now, unless it does so often by itself. */
  collectContainers(): void;
  /** Ends all connections and the server. */
  stop(): Promise<void>;
}

export interface TestConnectionOptions {
  readonly auth?: readonly AuthInfo[];
  /** In milliseconds. Default 10,000. */
  readonly sessionTimeout?: number;
}
