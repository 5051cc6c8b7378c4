import { ZooKeeperEnsemble } from '../support/zookeeper-ensemble.js';
import { barrierSuite } from './barrier.suite.js';
import { ZooKeeperBackend } from './zookeeper-backend.js';

barrierSuite('an ensemble, its clients on different servers', async () => {
  const { servers } = await ZooKeeperEnsemble.start({ containerCheckIntervalMs: 60_000 });
  return new ZooKeeperBackend(servers);
});
