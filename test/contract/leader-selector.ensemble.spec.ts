import { ZooKeeperEnsemble } from '../support/zookeeper-ensemble.js';
import { ZooKeeperBackend } from './zookeeper-backend.js';
import { leaderSelectorSuite } from './leader-selector.suite.js';

leaderSelectorSuite('an ensemble, its clients on different servers', async () => {
  const { servers } = await ZooKeeperEnsemble.start({ containerCheckIntervalMs: 60_000 });
  return new ZooKeeperBackend(servers);
});
