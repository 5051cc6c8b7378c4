import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { leaderLatchSuite } from './leader-latch.suite.js';
import { ZooKeeperBackend } from './zookeeper-backend.js';

leaderLatchSuite('a standalone server', async () => {
  const server = await ZooKeeperServer.start({ containerCheckIntervalMs: 60_000 });
  return new ZooKeeperBackend([server]);
});
