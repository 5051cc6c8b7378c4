import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { barrierSuite } from './barrier.suite.js';
import { ZooKeeperBackend } from './zookeeper-backend.js';

barrierSuite('a standalone server', async () => {
  const server = await ZooKeeperServer.start({ containerCheckIntervalMs: 60_000 });
  return new ZooKeeperBackend([server]);
});
