import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { LockOptionsError, WithMultiLock, type LockModuleOptions } from '../../lib/index.js';
import { useRedis, useRedisCluster, useRedisSentinel, useZooKeeper } from '../support/fixtures.js';
import { errorOf, useApps } from './support/apps.js';

@Injectable()
class Literal {
  @WithMultiLock(['k', { key: 'k', client: 'other' }], { wait: 10_000 })
  async run(): Promise<string> {
    return 'done';
  }
}

@Injectable()
class ReadAndWrite {
  @WithMultiLock([
    { key: '{0}', recipe: 'readLock' },
    { key: '{0}', recipe: 'writeLock', client: 'other' },
  ])
  async run(_key: string): Promise<string> {
    return 'done';
  }
}

const redis = useRedis();
const cluster = useRedisCluster();
const sentinel = useRedisSentinel();
const zookeeper = useZooKeeper();

const backendOf = (backend: 'redis' | 'zookeeper') => (options: object) =>
  ({ backend, ...options }) as LockModuleOptions;
const onRedis = backendOf('redis');
const onZooKeeper = backendOf('zookeeper');

/** Options of two clients that use the same locks. */
const SAME: [string, () => [LockModuleOptions, LockModuleOptions]][] = [
  ['a URL', () => [onRedis({ connect: redis().url }), onRedis({ connect: redis().url })]],
  [
    'a URL and options with another name of the host',
    () => [
      onRedis({ connect: redis().url }),
      onRedis({ connect: { host: 'localhost', port: redis().port } }),
    ],
  ],
  [
    'a client and its URL',
    () => {
      const { host, port, url } = redis();
      const client = new Redis({ host, port, lazyConnect: true });
      return [onRedis({ client }), onRedis({ connect: `${url}/0` })];
    },
  ],
  [
    'nodes of one cluster',
    () => {
      const [first, , third] = cluster().servers.map(({ host, port }) => ({ host, port }));
      return [
        onRedis({ cluster: { nodes: [first!] } }),
        onRedis({ cluster: { nodes: [third!, first!] } }),
      ];
    },
  ],
  [
    'two of the Sentinels',
    () => {
      const all = sentinel().sentinels.map(({ host, port }) => ({ host, port }));
      const name = sentinel().masterName;
      return [
        onRedis({ connect: { sentinels: all.slice(0, 2), name } }),
        onRedis({ connect: { sentinels: all.slice(1), name } }),
      ];
    },
  ],
  [
    'one ensemble',
    () => [
      onZooKeeper({ connect: `127.0.0.1:${zookeeper().port}` }),
      onZooKeeper({ connect: `localhost:${zookeeper().port},127.0.0.1:${zookeeper().port}/` }),
    ],
  ],
];

const OTHERS: [string, () => [LockModuleOptions, LockModuleOptions]][] = [
  [
    'two databases',
    () => [onRedis({ connect: redis().url }), onRedis({ connect: `${redis().url}/1` })],
  ],
  [
    'two prefixes',
    () => [onRedis({ connect: redis().url }), onRedis({ connect: redis().url, prefix: 'b:' })],
  ],
  [
    'two base paths',
    () => [
      onZooKeeper({ connect: `127.0.0.1:${zookeeper().port}` }),
      onZooKeeper({ connect: `127.0.0.1:${zookeeper().port}`, basePath: '/b' }),
    ],
  ],
  [
    'two chroots',
    () => [
      onZooKeeper({ connect: `127.0.0.1:${zookeeper().port}` }),
      onZooKeeper({ connect: `127.0.0.1:${zookeeper().port}/app` }),
    ],
  ],
  ['two embedded trees', () => [{}, {}]],
];

describe('A multi-lock of one key by two clients', () => {
  const apps = useApps();
  const clientsOf = ([first, second]: [LockModuleOptions, LockModuleOptions]) => [
    first,
    { ...second, name: 'other' },
  ];

  it.each(SAME)('does not let the app boot when they share their servers: %s', async (_, pair) => {
    const error = await apps.bootError({ clients: clientsOf(pair()), providers: [Literal] });
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error.message).toMatch(
      /"k" would wait for itself, as the clients "default" and "other" use the same servers.*Literal\.run/,
    );
  });

  it.each(SAME)('is refused in a call whose keys are arguments: %s', async (_, pair) => {
    const app = await apps.boot({ clients: clientsOf(pair()), providers: [ReadAndWrite] });
    const error = await errorOf(app.get(ReadAndWrite).run('rates'));
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error.message).toContain('"rates" would wait for itself');
  });

  it.each(OTHERS)('is granted when the locks are different ones: %s', async (_, pair) => {
    const app = await apps.boot({ clients: clientsOf(pair()), providers: [Literal] });
    expect(await app.get(Literal).run()).toBe('done');
  });
});
