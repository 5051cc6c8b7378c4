import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LockLostError } from '../../lib/core/errors/index.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { lockRenew } from '../../lib/redis/scripts/index.js';
import { lossOf } from '../integration/support/loss-of.js';
import { eventually } from '../support/eventually.js';
import { RedisProxy } from '../support/redis-proxy.js';
import { RedisServer } from '../support/redis-server.js';

/**
 * Reconnect delay in ms: the client checks its leases when a connection breaks, and is not back before its locks have expired.
 */
const AWAY = 60_000;

describe('A lease with a changed length', () => {
  let server: RedisServer;
  let proxy: RedisProxy;
  let locks: RedisLockClient;

  beforeAll(async () => {
    server = await RedisServer.start();
    await server.command('SCRIPT', 'LOAD', lockRenew.source); // so that the first answer confirms the change
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    await server.command('FLUSHALL');
    proxy = await RedisProxy.start(server);
    const client = server.client({ port: proxy.port, retryStrategy: () => AWAY });
    locks = await createRedisLockClient('test', { client, watchdogTimeout: 2_000 });
    await locks.connect();
  });
  afterEach(async () => {
    await locks.close(10);
    await proxy.stop();
  });

  const loseRenewals = () => proxy.loseReply((command) => command[1] === lockRenew.sha1);
  const isFree = () =>
    eventually('the lock is free', async () => (await server.command('EXISTS', 'seats')) === 0, {
      within: 20_000,
    });

  it.each([{ lease: 60_000 }, {}])(
    'is lost before the server frees the lock, though no reply confirms that the change took effect: %j',
    async (options) => {
      const lease = await locks.mutex('seats').acquire(options);
      const lost = lossOf(lease);
      const loss = loseRenewals();

      const shortened = lease.extend(6_000).catch((error: unknown) => error);
      await eventually('it took effect', () => loss.lost === 1);
      const freeAt = Number(await server.command('PEXPIRETIME', 'seats'));

      expect(await lost).toBeLessThan(freeAt);
      expect(lease.isHeld).toBe(false);
      expect(await shortened).toBeInstanceOf(LockLostError);
      await isFree();
    },
  );

  it('is as long as requested last, whatever answers arrive in between, and is renewed to that length', async () => {
    const lease = await locks.mutex('seats').acquire();
    proxy.hold(); // so that both are on their way
    const longer = lease.extend(60_000);
    const shorter = lease.extend(500);
    proxy.resume();
    await Promise.all([longer, shorter]);

    const remaining = lease.remaining();
    expect(remaining).toBeGreaterThan(0);
    expect(remaining).toBeLessThanOrEqual(500);
    expect(await server.command('PTTL', 'seats')).toBeLessThanOrEqual(500);
    await eventually('time has gone by', () => lease.remaining() < 400);
    await eventually('it was renewed', () => lease.remaining() > 400);
    await lease.release();
  });
});
