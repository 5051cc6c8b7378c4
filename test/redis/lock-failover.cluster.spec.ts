import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import { RedisCluster } from '../support/redis-cluster.js';

const KEY = 'key';

describe('A mutex on a Redis Cluster after the failure of its master', () => {
  let cluster: RedisCluster;
  let client: RedisLockClient;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
    client = await createRedisLockClient('test', { client: cluster.client() });
    await client.connect();
  }, 60_000);
  afterAll(async () => {
    await client.close();
    await cluster.stop();
  });

  it('can still be locked and unlocked (Redisson: RedissonLockTest testLockFailoverInCluster)', async () => {
    let granted = 0;
    let isDone = false;
    const users = Array.from({ length: 3 }, async () => {
      while (!isDone) {
        await nextTurn();
        const lease = await client.mutex(KEY).tryAcquire();
        if (lease) granted += 1;
        await lease?.release();
      }
    });
    const grants = (count: number) => eventually('it was granted', () => granted >= count);
    await grants(100);
    await cluster.failOver(KEY);
    await grants(granted + 100);
    isDone = true;
    await Promise.all(users);

    const successor = await cluster.masterOf(KEY);
    expect(await successor.command('EXISTS', KEY)).toBe(0);
  }, 60_000);
});
