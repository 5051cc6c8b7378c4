import { LockModule } from '../../lib/index.js';
import { RedisServer } from '../support/redis-server.js';
import { resultsSuite } from './results.suite.js';
import { Apps } from './support/apps.js';

resultsSuite('Redis', async () => {
  const apps = new Apps();
  const server = await RedisServer.start();
  const locks = LockModule.forRoot({
    backend: 'redis',
    connect: { host: server.host, port: server.port },
    watchdogTimeout: 60_000,
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
