import { describe, expect, it } from '@jest/globals';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import type { LockClient } from '../../../lib/core/lock-client.js';
import { createEmbeddedLockClient } from '../../../lib/embedded/create-embedded-lock-client.js';
import { createRedLockClient } from '../../../lib/redis/red-lock/create-red-lock-client.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import { createZooKeeperLockClient } from '../../../lib/zookeeper/create-zookeeper-lock-client.js';

const CLIENTS: readonly [backend: string, create: () => LockClient | Promise<LockClient>][] = [
  ['embedded', () => createEmbeddedLockClient('unit')],
  ['ZooKeeper', () => createZooKeeperLockClient('unit', { connect: 'zk-1:2181' })],
  ['Redis', () => createRedisLockClient('unit', { connect: 'redis://redis-1' })],
  [
    'RedLock',
    () => createRedLockClient('unit', { nodes: [1, 2, 3].map((n) => `redis://redis-${n}`) }),
  ],
];

type Make = (client: LockClient, options: never) => unknown;
const RECIPES: readonly [recipe: string, options: object, make: Make][] = [
  ['mutex', { fiar: true }, (client, options) => client.mutex('door', options)],
  ['read/write lock', { handof: false }, (client, options) => client.readWriteLock('a', options)],
  ['semaphore', { permits: 2, fare: true }, (client, options) => client.semaphore('b', options)],
  ['leader latch', { name: 'me' }, (client, options) => client.leaderLatch('c', options)],
  [
    'leader selector',
    { requeue: true },
    (client, options) => client.leaderSelector('d', async () => {}, options),
  ],
];

describe.each(CLIENTS)('A client of %s', (backend, create) => {
  const has = (recipe: string) => backend !== 'RedLock' || !/read|semaphore/.test(recipe);

  it.each(RECIPES.filter(([recipe]) => has(recipe)))(
    'refuses an option that a %s has not',
    async (_, options, make) => {
      const client = await create();
      const [wrong] = Object.keys(options).slice(-1);
      const refused = () => make(client, options as never);
      expect(refused).toThrow(LockOptionsError);
      expect(refused).toThrow(`Option \`${wrong}\``);
      await client.close();
    },
  );
});
