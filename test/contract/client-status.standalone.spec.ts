import { createZooKeeperLockClient } from '../../lib/zookeeper/create-zookeeper-lock-client.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { clientStatusLossSuite } from './client-status-loss.suite.js';
import { clientStatusSuite } from './client-status.suite.js';
import { Stage } from './stage.js';
import { ZooKeeperBackend } from './zookeeper-backend.js';

clientStatusSuite(
  'a standalone server',
  async () => {
    const server = await ZooKeeperServer.start({ containerCheckIntervalMs: 60_000 });
    return Stage.build(new ZooKeeperBackend([server]));
  },
  {
    holders: (stage) => stage.contenders(),
    suspended: 'degraded',
    sessionId: ({ mine }) => mine.connection.session!.id,
  },
);

clientStatusLossSuite(
  'a standalone server that goes away',
  async () => {
    const server = await ZooKeeperServer.start();
    const { connectString: connect } = server;
    return {
      client: await createZooKeeperLockClient('contract', { connect, sessionTimeout: 2_000 }),
      kill: () => server.kill(),
      restart: () => server.restart(),
      stop: () => server.stop(),
    };
  },
  'degraded',
);
