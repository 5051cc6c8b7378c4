import type {
  ConnectionState,
  ZooKeeperConnection,
} from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually } from '../support/eventually.js';

/** Starts a connection, waits until it is up, and returns the states that it goes through from then on. */
export async function connected(connection: ZooKeeperConnection): Promise<ConnectionState[]> {
  connection.start();
  await eventually('connected', () => connection.isConnected);
  const states: ConnectionState[] = [];
  connection.onStateChange((state) => states.push(state));
  return states;
}
