import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { Relay } from '../support/relay.js';

describe('A server that answers late when a client connects, and in time later,', () => {
  let server: RedisServer;
  let relay: Relay;
  let client: RedisLockClient;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  /** Connects over a link with a round trip of 400 ms, which is fast from then on. */
  async function connectSlowly(): Promise<void> {
    relay = await Relay.start(server, 200);
    client = await createRedisLockClient('slow', {
      connect: { host: relay.host, port: relay.port, disconnectTimeout: 0 },
    });
    await client.connect();
    relay.delay = 0;
  }
  async function close(): Promise<void> {
    await client.close();
    await relay.stop();
  }

  it('grants short leases once any answer has come in time', async () => {
    await connectSlowly();
    await expect(client.mutex('short').acquire({ lease: 1_000 })).rejects.toThrow('round trips');
    await client.ping(20_000);
    await (await client.mutex('short').acquire({ lease: 1_000 })).release();
    await close();
  });

  it('grants short leases after one was rejected', async () => {
    await connectSlowly();
    await eventually('it is granted', () => client.mutex('short').acquire({ lease: 1_000 }));
    await close();
  });
});
