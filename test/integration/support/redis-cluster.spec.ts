import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { RedisCluster } from '../../support/redis-cluster.js';

describe('RedisCluster', () => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await RedisCluster.start();
  });
  afterAll(() => cluster.stop());

  it('keeps each key on the master of its slot', async () => {
    const client = cluster.client();
    const keys = ['a', 'b', 'c', 'd'];
    const masters = await Promise.all(keys.map((key) => cluster.masterOf(key)));
    expect(new Set(masters).size).toBeGreaterThan(1);
    for (const [i, key] of keys.entries()) {
      await client.set(key, `value of ${key}`);
      expect(await masters[i]!.command('GET', key)).toBe(`value of ${key}`);
    }
  });

  it('delivers messages of a shard', async () => {
    const client = cluster.client();
    const message = once(client, 'smessage');
    await client.ssubscribe('channel');
    await client.spublish('channel', 'hello');
    expect(await message).toEqual(['channel', 'hello']);
  });

  it('fails over to the replica, which has the data, and takes the killed one back', async () => {
    const client = cluster.client();
    await client.set('key', 'value');
    const first = await cluster.masterOf('key');
    await cluster.failOver('key');
    const second = await cluster.masterOf('key');
    expect(second).not.toBe(first);
    expect(await second.command('GET', 'key')).toBe('value');
    expect(await client.get('key')).toBe('value');

    await cluster.restart();
    expect(await cluster.masterOf('key')).toBe(second);
    expect(await first.role()).toMatchObject({ name: 'replica', master: second.port });
  });
});
