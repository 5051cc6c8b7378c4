import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from '@jest/globals';
import { lockClientContract } from '../../lib/testing/index.js';
import { createZooKeeperLockClient } from '../../lib/zookeeper/create-zookeeper-lock-client.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';

describe('The exported contract on a ZooKeeper server', () => {
  let server: ZooKeeperServer;

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
  }, 60_000);
  afterAll(() => server.stop());

  lockClientContract(
    { describe, it, beforeEach, afterEach },
    {
      createClient: async () => {
        const client = await createZooKeeperLockClient('default', {
          connect: server.connectString,
        });
        await client.connect();
        return client;
      },
      patience: 15_000, // the machine may be busy
    },
  );
});
