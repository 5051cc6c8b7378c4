import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { ZooKeeperBackend } from './zookeeper-backend.js';
import { leaderSelectorSuite } from './leader-selector.suite.js';

leaderSelectorSuite('a standalone server', async () => {
  const server = await ZooKeeperServer.start({ containerCheckIntervalMs: 60_000 });
  return new ZooKeeperBackend([server]);
});
