import { describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { createLockClient, type LockClientOptions, withLock } from '../../lib/standalone/index.js';
import { useRedis, useZooKeeper } from '../support/fixtures.js';
import { noMoreHandlesThan, openHandles } from './support/open-handles.js';

const redis = useRedis();
const zookeeper = useZooKeeper();

describe('Without Nest, two clients', () => {
  it.each<[string, () => LockClientOptions]>([
    ['Redis', () => ({ backend: 'redis', connect: redis().url })],
    [
      'Redis by node-redis',
      () => ({ backend: 'redis', driver: 'node-redis', connect: redis().url }),
    ],
    ['ZooKeeper', () => ({ backend: 'zookeeper', connect: zookeeper().connectString })],
    [
      'ZooKeeper by wire',
      () => ({ backend: 'zookeeper', driver: 'wire', connect: zookeeper().connectString }),
    ],
  ])('on %s run one call at a time, and leave nothing open', async (_, options) => {
    const before = openHandles();
    let count = 0;
    const increment = async (_key: string) => {
      const seen = count;
      await turn();
      count = seen + 1;
    };
    {
      await using one = await createLockClient(options());
      await using other = await createLockClient({ ...options(), name: 'other' });
      const calls = [one, other].map((client) => withLock(increment, 'count:{0}', { client }));
      const each = (call: (key: string) => Promise<void>) =>
        Promise.all(Array.from({ length: 20 }, () => call('orders')));
      await Promise.all(calls.map(each));
      expect(one.status()).toMatchObject({ health: 'up', held: 0, waiting: 0 });
      expect(other.name).toBe('other');
    }
    expect(count).toBe(40);
    await noMoreHandlesThan(before);
  });
});
