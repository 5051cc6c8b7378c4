import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { ZooKeeperBackend } from './zookeeper-backend.js';
import { atomicNumbersSuite } from './atomic-numbers.suite.js';

atomicNumbersSuite('a standalone server', async () => {
  const server = await ZooKeeperServer.start({ containerCheckIntervalMs: 60_000 });
  return new ZooKeeperBackend([server]);
});
