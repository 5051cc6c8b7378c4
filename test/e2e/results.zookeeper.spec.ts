import { LockModule } from '../../lib/index.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { resultsSuite } from './results.suite.js';
import { Apps } from './support/apps.js';

resultsSuite('ZooKeeper', async () => {
  const apps = new Apps();
  const server = await ZooKeeperServer.start();
  const locks = LockModule.forRoot({
    backend: 'zookeeper',
    connect: server.connectString,
    sessionTimeout: 60_000,
  });
  return {
    boot: (metadata) => apps.boot({ imports: [locks], ...metadata }),
    die: () => server.kill(),
    comeBack: () => server.restart(),
    end: async () => {
      await apps.close();
      await server.stop();
    },
  };
});
