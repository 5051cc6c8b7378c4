import type { Keyspace } from '../../../../lib/testing/redis/server/keyspace.js';
import type { ServerPort } from '../../../../lib/testing/redis/network/server-port.js';

/** The servers of a world: what its clients connect to, and what its judge looks at. */
export interface Servers {
  readonly ports: readonly ServerPort[];
  /** What they have together. */
  readonly keyspace: Keyspace;
  /** Called before each command that may change something. */
  onCommand: () => void;
  /** Called after each command with the keys that it has changed. */
  onChange: (keys: ReadonlySet<string>) => void;
  /** The server that an address leads to now. */
  portAt(address: string): ServerPort;
  /** The time of the servers at that time of the world, in ms since 1970; not rounded. */
  timeAt(time: number): number;
}
