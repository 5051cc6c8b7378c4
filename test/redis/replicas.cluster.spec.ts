import { describe, expect, it } from '@jest/globals';
import { onRedis } from './on-redis.js';

describe('A grant that has to be on replicas of a Redis Cluster', () => {
  const stage = onRedis('cluster');

  it('is checked at the master that has the key', async () => {
    const client = await stage().client({ replicas: { atLeast: 1 } });
    await stage().commands('CONFIG', 'RESETSTAT');
    const keys = Array.from({ length: 12 }, (_, n) => `${stage().key}-${n}`);
    const leases = await Promise.all(keys.map((key) => client.mutex(key).acquire()));
    expect(leases.every(({ isHeld }) => isHeld)).toBe(true);

    const stats = (await stage().commands('INFO', 'commandstats')) as string[];
    const asked = stats.map((text) => Number(/cmdstat_wait:calls=(\d+)/.exec(text)?.[1]));
    const owned = ((await stage().commands('DBSIZE')) as number[]).map(Number);
    expect(asked).toEqual(owned);
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it('is released when it is on too few', async () => {
    const { theirs, key } = stage();
    const client = await stage().client({ replicas: { atLeast: 2, timeout: 50 } });
    await expect(client.mutex(key).acquire()).rejects.toThrow('acknowledged by 1 of 2 replicas');
    await using next = await theirs.mutex(key).acquire({ wait: 10_000 });
    expect(next.isHeld).toBe(true);
  });
});
