import { ZooKeeperEnsemble } from '../support/zookeeper-ensemble.js';
import { ZooKeeperBackend } from './zookeeper-backend.js';
import { multiLockSuite } from './multi-lock.suite.js';

multiLockSuite('an ensemble, its clients on different servers', async () => {
  const { servers } = await ZooKeeperEnsemble.start({ containerCheckIntervalMs: 60_000 });
  return new ZooKeeperBackend(servers);
});
