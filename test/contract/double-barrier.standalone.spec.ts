import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { doubleBarrierSuite } from './double-barrier.suite.js';
import { ZooKeeperBackend } from './zookeeper-backend.js';

doubleBarrierSuite('a standalone server', async () => {
  const server = await ZooKeeperServer.start({ containerCheckIntervalMs: 60_000 });
  return new ZooKeeperBackend([server]);
});
