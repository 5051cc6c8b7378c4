import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LockNotHeldError } from '../../lib/core/errors/index.js';
import type { Script } from '../../lib/redis/connection/script.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { permitAcquire, permitReleaseIds, permitResize } from '../../lib/redis/scripts/index.js';
import { RedisProxy, type LostReplies } from '../support/redis-proxy.js';
import { RedisServer } from '../support/redis-server.js';

const KEY = 'orders';

describe('A semaphore whose command was carried out, but not answered', () => {
  let server: RedisServer;
  let proxy: RedisProxy;
  let direct: RedisLockClient;
  let client: RedisLockClient;

  beforeAll(async () => {
    server = await RedisServer.start();
    proxy = await RedisProxy.start(server);
  });
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
  });
  beforeEach(async () => {
    direct = await createRedisLockClient('direct', { connect: server.url });
    const connection = server.client({ port: proxy.port, retryStrategy: () => 50 });
    client = await createRedisLockClient('proxied', { client: connection });
    await Promise.all([direct.connect(), client.connect()]);
    const warm = client.semaphore('warm'); // by their digests the server knows the scripts from here on
    await warm.trySetPermits(1);
    const { permitIds } = await warm.acquire();
    await warm.release(permitIds);
    await server.command('FLUSHALL');
  });
  afterEach(async () => {
    proxy.resume();
    await Promise.all([direct.close(), client.close()]);
  });

  it('has the permits that were taken, and no more', async () => {
    await direct.semaphore(KEY).trySetPermits(3);
    const losses = lose(permitAcquire, 2);
    const lease = await client.semaphore(KEY).acquire({ permits: 2 });
    expect(losses.lost).toBe(2);
    expect(await direct.semaphore(KEY).acquiredPermits()).toBe(2);
    await lease.release();
    expect(await direct.semaphore(KEY).availablePermits()).toBe(3);
  });

  it('has so many more permits, however often it was told', async () => {
    await direct.semaphore(KEY).trySetPermits(3);
    const losses = lose(permitResize, 3);
    await client.semaphore(KEY).addPermits(2);
    expect(losses.lost).toBe(3);
    expect(await direct.semaphore(KEY).getPermits()).toBe(5);
    await isRemembered();
  });

  it('was made by who is told so', async () => {
    const losses = lose(permitResize);
    expect(await client.semaphore(KEY).trySetPermits(3)).toBe(true);
    expect(losses.lost).toBe(1);
    expect(await direct.semaphore(KEY).trySetPermits(4)).toBe(false);
    expect(await direct.semaphore(KEY).getPermits()).toBe(3);
    await isRemembered();
  });

  it('has back what was given back by its id, and says so', async () => {
    await direct.semaphore(KEY).trySetPermits(2);
    const { permitIds } = await direct.semaphore(KEY).acquire();
    const losses = lose(permitReleaseIds);
    await client.semaphore(KEY).release(permitIds);
    expect(losses.lost).toBe(1);
    expect(await direct.semaphore(KEY).availablePermits()).toBe(2);
    await expect(client.semaphore(KEY).release(permitIds)).rejects.toBeInstanceOf(LockNotHeldError);
    await isRemembered();
  });

  /** Loses the replies to that script so often. */
  function lose({ sha1 }: Script, times = 1): LostReplies {
    const losses = proxy.loseReply(([, script]) => script === sha1 && losses.lost < times);
    return losses;
  }

  /** Nothing is kept but the answer, for copies of the request that may arrive later. */
  async function isRemembered(): Promise<void> {
    const keys = (await server.command('KEYS', '*')) as string[];
    const answers = keys.filter((name) => /^interlock_requests?:/.test(name));
    expect(keys.filter((name) => !answers.includes(name))).toEqual([KEY]);
    expect(answers).not.toEqual([]);
    for (const name of answers)
      expect(await server.command('PTTL', name)).toBeGreaterThan(15 * 60_000);
  }
});
