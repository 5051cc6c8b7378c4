import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from '@jest/globals';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import { lockClientContract } from '../../lib/testing/index.js';
import { RedisServer } from '../support/redis-server.js';

describe('The exported contract on a Redis server', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  }, 60_000);
  afterAll(() => server.stop());

  lockClientContract(
    { describe, it, beforeEach, afterEach },
    {
      createClient: async () => {
        const client = await createRedisLockClient('default', { connect: server.url });
        await client.connect();
        return client;
      },
      isFair: false,
      patience: 15_000, // the machine may be busy
    },
  );
});
