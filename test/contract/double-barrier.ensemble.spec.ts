import { ZooKeeperEnsemble } from '../support/zookeeper-ensemble.js';
import { doubleBarrierSuite } from './double-barrier.suite.js';
import { ZooKeeperBackend } from './zookeeper-backend.js';

doubleBarrierSuite('an ensemble, its clients on different servers', async () => {
  const { servers } = await ZooKeeperEnsemble.start({ containerCheckIntervalMs: 60_000 });
  return new ZooKeeperBackend(servers);
});
