import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { RedisServer } from '../support/redis-server.js';

describe('The replicas policy', () => {
  let server: RedisServer;
  let holder: RedisLockClient;
  let careful: RedisLockClient;

  beforeAll(async () => {
    server = await RedisServer.start();
    const { url: connect } = server;
    holder = await createRedisLockClient('holder', { connect });
    careful = await createRedisLockClient('careful', { connect, replicas: { atLeast: 1 } });
    await Promise.all([holder.connect(), careful.connect()]);
  });
  afterAll(async () => {
    await Promise.all([holder.close(), careful.close()]);
    await server.stop();
  });

  beforeEach(async () => {
    await server.command('CONFIG', 'RESETSTAT');
  });

  it('sends no WAIT for a lock that was not granted, as other commands would wait for the answer', async () => {
    await holder.mutex('seats').acquire();
    expect(await careful.mutex('seats').tryAcquire()).toBeUndefined();
    expect(await server.command('INFO', 'commandstats')).not.toContain('cmdstat_wait:');
  });

  it('adds no listener to the client per acquire, which Node would report as a leak', async () => {
    const client = server.client();
    const replicas = { atLeast: 1, timeout: 10, otherwise: 'warn' } as const;
    const locks = await createRedisLockClient('many', { client, replicas });
    await locks.connect();
    const before = client.listenerCount('close');
    const keys = Array.from({ length: 20 }, (_, i) => `row-${i}`);
    const acquiring = Promise.all(keys.map((key) => locks.mutex(key).acquire()));
    await client.ping(); // the commands were sent
    expect(client.listenerCount('close')).toBe(before);
    await acquiring;
    await locks.close();
  });

  it('sends WAIT for a lock that was granted', async () => {
    await expect(careful.mutex('aisle').tryAcquire()).rejects.toThrow('0 of 1 replicas');
    expect(await server.command('INFO', 'commandstats')).toContain('cmdstat_wait:');
  });
});
