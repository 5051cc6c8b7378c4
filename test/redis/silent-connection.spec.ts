import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { eventually } from '../support/eventually.js';
import { RedisProxy } from '../support/redis-proxy.js';
import { RedisServer } from '../support/redis-server.js';

describe('A connection that falls silent without being closed', () => {
  let server: RedisServer;
  let proxy: RedisProxy;
  let locks: RedisLockClient;

  beforeAll(async () => {
    server = await RedisServer.start();
    proxy = await RedisProxy.start(server);
  });
  afterEach(async () => {
    proxy.resume();
    await locks.close();
  });
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
  });

  it.each([
    ['a URL', (): RedisLockOptions => ({ connect: `redis://${proxy.host}:${proxy.port}` })],
    [
      'options of ioredis',
      (): RedisLockOptions => ({ connect: { host: proxy.host, port: proxy.port } }),
    ],
  ])('is given up by a client that was made of %s, which connects anew', async (_, optionsOf) => {
    locks = await createRedisLockClient('test', { ...optionsOf(), watchdogTimeout: 3_000 });
    const states: string[] = [];
    locks.on('connection', ({ state }) => states.push(state));
    await locks.connect();

    proxy.hold();
    const acquiring = locks.mutex('seats').acquire();
    await eventually('it is given up', () => states.includes('SUSPENDED'));
    proxy.resume();

    const lease = await acquiring;
    expect(states).toEqual(['CONNECTED', 'SUSPENDED', 'RECONNECTED']);
    await lease.release();
    await locks.close();
  });
});
