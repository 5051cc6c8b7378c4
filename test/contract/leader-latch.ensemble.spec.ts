import { ZooKeeperEnsemble } from '../support/zookeeper-ensemble.js';
import { leaderLatchSuite } from './leader-latch.suite.js';
import { ZooKeeperBackend } from './zookeeper-backend.js';

leaderLatchSuite('an ensemble, its clients on different servers', async () => {
  const { servers } = await ZooKeeperEnsemble.start({ containerCheckIntervalMs: 60_000 });
  return new ZooKeeperBackend(servers);
});
