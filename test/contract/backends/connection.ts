import type {
  AuthInfo,
  ConnectionState,
  ZooKeeperConnection,
} from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually } from '../../support/time.js';

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

/** What may happen on the way between one client and the server. */
export interface NetworkFaults {
  /** Breaks the connection. */
  cut(): void;
  /** Breaks the connection at the next request about `path`: before the server reads it, or after it was carried out. */
  cutAt(path: string, when: 'before' | 'after'): void;
  /** From now on no new connection is taken. */
  refuse(): void;
  /** Ends `refuse`. */
  accept(): Promise<void>;
  /** From now on nothing arrives in either direction, and neither side learns of it. */
  silence(): void;
  /** Ends `silence`: what was sent meanwhile arrives. */
  restore(): void;
}

/** Starts a connection, waits until it is up, and returns the states that it goes through from then on. */
export async function connected(connection: ZooKeeperConnection): Promise<ConnectionState[]> {
  connection.start();
  await eventually('connected', () => connection.isConnected);
  const states: ConnectionState[] = [];
  connection.onStateChange((state) => states.push(state));
  return states;
}
