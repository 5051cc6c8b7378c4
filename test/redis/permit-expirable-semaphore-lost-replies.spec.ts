import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LockNotHeldError } from '../../lib/core/errors/index.js';
import type { Script } from '../../lib/redis/connection/script.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { permitAcquire, permitReleaseIds, permitResize } from '../../lib/redis/scripts/index.js';
import { RedisProxy, type LostReplies } from '../support/redis-proxy.js';
import { RedisServer } from '../support/redis-server.js';

const KEY = 'orders';

describe('A semaphore after the reply to an executed command was lost', () => {
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
    const warm = client.semaphore('warm'); // from here on the server knows the scripts by their digests
    await warm.trySetPermits(1);
    const { permitIds } = await warm.acquire();
    await warm.release(permitIds);
    await server.command('FLUSHALL');
  });
  afterEach(async () => {
    proxy.resume();
    await Promise.all([direct.close(), client.close()]);
  });

  it('has lent the acquired permits, and no more', async () => {
    await direct.semaphore(KEY).trySetPermits(3);
    const losses = lose(permitAcquire, 2);
    const lease = await client.semaphore(KEY).acquire({ permits: 2 });
    expect(losses.lost).toBe(2);
    expect(await direct.semaphore(KEY).acquiredPermits()).toBe(2);
    await lease.release();
    expect(await direct.semaphore(KEY).availablePermits()).toBe(3);
  });

  it('has the added permits once, however often the command was sent', async () => {
    await direct.semaphore(KEY).trySetPermits(3);
    const losses = lose(permitResize, 3);
    await client.semaphore(KEY).addPermits(2);
    expect(losses.lost).toBe(3);
    expect(await direct.semaphore(KEY).getPermits()).toBe(5);
    await isRemembered();
  });

  it('reports to its caller that it set the number of permits', async () => {
    const losses = lose(permitResize);
    expect(await client.semaphore(KEY).trySetPermits(3)).toBe(true);
    expect(losses.lost).toBe(1);
    expect(await direct.semaphore(KEY).trySetPermits(4)).toBe(false);
    expect(await direct.semaphore(KEY).getPermits()).toBe(3);
    await isRemembered();
  });

  it('has taken back the permit that was released by its id, and reports it', async () => {
    await direct.semaphore(KEY).trySetPermits(2);
    const { permitIds } = await direct.semaphore(KEY).acquire();
    const losses = lose(permitReleaseIds);
    await client.semaphore(KEY).release(permitIds);
    expect(losses.lost).toBe(1);
    expect(await direct.semaphore(KEY).availablePermits()).toBe(2);
    await expect(client.semaphore(KEY).release(permitIds)).rejects.toBeInstanceOf(LockNotHeldError);
    await isRemembered();
  });

  /** Loses the replies to that script the given number of times. */
  function lose({ sha1 }: Script, times = 1): LostReplies {
    const losses = proxy.loseReply(([, script]) => script === sha1 && losses.lost < times);
    return losses;
  }

  /** Only the answer is kept, for copies of the request that may arrive later. */
  async function isRemembered(): Promise<void> {
    const keys = (await server.command('KEYS', '*')) as string[];
    const answers = keys.filter((name) => /^interlock_requests?:/.test(name));
    expect(keys.filter((name) => !answers.includes(name))).toEqual([KEY]);
    expect(answers).not.toEqual([]);
    for (const name of answers)
      expect(await server.command('PTTL', name)).toBeGreaterThan(15 * 60_000);
  }
});
