import { ZooKeeperServer } from '../support/zookeeper-server.js';
import type { Backend } from './backend.js';
import { EmbeddedBackend } from './embedded-backend.js';
import { ZooKeeperBackend } from './zookeeper-backend.js';

/** How often the servers look for empty directories, in milliseconds. */
const INTERVAL = 50;

/** Servers that collect empty directories almost at once, with their names. */
export const collectingBackends: readonly (readonly [string, () => Promise<Backend>])[] = [
  ['the embedded tree', async () => new EmbeddedBackend({ containerInterval: INTERVAL })],
  [
    'a standalone server',
    async () => {
      const server = await ZooKeeperServer.start({ containerCheckIntervalMs: INTERVAL });
      return new ZooKeeperBackend([server]);
    },
  ],
];
