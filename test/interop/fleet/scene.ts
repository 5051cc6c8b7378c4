import type { TestClient } from '../../integration/support/test-client.js';
import type { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import type { Peer } from '../support/peer.js';
import type { FleetObserver } from './fleet-observer.js';
import type { History } from './history.js';

/** What accidents happen to. */
export interface Scene {
  readonly ensemble: ZooKeeperEnsemble;
  /** The processes of the fleet, by the names of their workers. */
  readonly peers: ReadonlyMap<string, Peer>;
  /** Path of the lock. */
  readonly path: string;
  readonly history: History;
  readonly observer: FleetObserver;
  /** A client that takes no part. */
  readonly stranger: TestClient;
}
