import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { MutexZooKeeperBackend } from './mutex-zookeeper-backend.js';
import { mutexSuite } from './mutex.suite.js';

mutexSuite('a standalone server', async () => {
  const server = await ZooKeeperServer.start({ containerCheckIntervalMs: 60_000 });
  return new MutexZooKeeperBackend([server]);
});
