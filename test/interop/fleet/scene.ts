import type { Peer } from '../support/peer.js';
import type { FleetObserver } from './fleet-observer.js';
import type { Ground } from './ground.js';
import type { History } from './history.js';

/** What accidents affect. */
export interface Scene<G extends Ground = Ground> {
  readonly ground: G;
  /** The processes of the fleet, by the names of their workers. */
  readonly peers: ReadonlyMap<string, Peer>;
  /** Path or name of the lock. */
  readonly path: string;
  readonly history: History;
  readonly observer: FleetObserver;
}
