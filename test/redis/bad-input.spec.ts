import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { LockKeyError, LockOptionsError } from '../../lib/core/errors/index.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { RedisServer } from '../support/redis-server.js';
import { Relay } from '../support/relay.js';
import { RECIPES } from './recipes.js';

let server: RedisServer;

beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

describe('A lock client on Redis rejects', () => {
  const lazy = { lazyConnect: true };
  const node = { host: '127.0.0.1', port: 1 };

  it.each<[string, RedisLockOptions, option: string]>([
    ['no server', {}, 'connect'],
    ['two servers', { connect: 'redis://:secret@a', client: new Redis(lazy) }, 'connect'],
    ['an address without a scheme', { connect: 'user:secret@localhost' }, 'connect'],
    ['no text as an address', { connect: 6379 as never }, 'connect'],
    ['null as an address', { connect: null as never }, 'connect'],
    ['something else as a client', { client: {} as never }, 'client'],
    ['null as a client', { client: null as never }, 'client'],
    ['a cluster without nodes', { cluster: { nodes: [] } }, 'cluster'],
    ['null as a cluster', { cluster: null as never }, 'cluster'],
    ['a client with a prefix', { client: new Redis({ ...lazy, keyPrefix: 'a:' }) }, 'keyPrefix'],
    ['a prefix of ioredis', { connect: { ...node, keyPrefix: 'a:' } }, 'keyPrefix'],
    [
      'a cluster with a prefix',
      { client: new Cluster([node], { ...lazy, redisOptions: { keyPrefix: 'a:' } }) },
      'keyPrefix',
    ],
    [
      'a prefix of a cluster',
      { cluster: { nodes: [node], options: { keyPrefix: 'a:' } } },
      'keyPrefix',
    ],
    [
      'a client that forgets commands',
      { client: new Redis({ ...lazy, autoResendUnfulfilledCommands: false }) },
      'autoResendUnfulfilledCommands',
    ],
  ])('%s', async (_, options, option) => {
    const refusal = await createRedisLockClient('bad', options).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LockOptionsError);
    expect(refusal).toMatchObject({ option, client: 'bad' });
    expect(String(refusal)).not.toContain('secret');
  });

  it.each<[keyof RedisLockOptions, ...values: unknown[]]>([
    ['connectTimeout', 0, -1, NaN, Infinity, 2 ** 31, '5'],
    ['watchdogTimeout', 0, 99, 100.5, NaN, Infinity, 2 ** 31, '30000'],
    ['fairLockWaitTimeout', 0, -1, 1_500.5, 0.5, NaN, Infinity, 2 ** 31],
    ['prefix', 5, null],
    ['wait', 0, -1, NaN, Infinity, 'for ever'],
    ['shardedSubscriptionMode', 'AUTO', true, null],
  ])('a bad `%s`', async (option, ...values) => {
    for (const value of values)
      await expect(
        createRedisLockClient('bad', { connect: server.url, [option]: value }),
      ).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option, value, client: 'bad' });
  });

  it.each([
    ['replicas.atLeast', {}],
    ['replicas.atLeast', null],
    ['replicas.atLeast', { atLeast: 0 }],
    ['replicas.atLeast', { atLeast: 1.5 }],
    ['replicas.timeout', { atLeast: 1, timeout: 0 }],
    ['replicas.otherwise', { atLeast: 1, otherwise: 'ignore' }],
  ])('a bad `%s` (%j)', async (option, replicas) => {
    await expect(
      createRedisLockClient('bad', { connect: server.url, replicas: replicas as never }),
    ).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option });
  });
});

describe.each(Object.entries(RECIPES))('A %s on Redis', (_, lock) => {
  let client: RedisLockClient;

  beforeAll(async () => {
    client = await createRedisLockClient('bad', { connect: server.url });
    await client.connect();
  });
  afterAll(() => client.close());

  it.each([0, 99, -1, 100.5, NaN, Infinity, 2 ** 31, '1000', null])(
    'rejects a lease of %p',
    async (lease) => {
      const options = { lease: lease as number };
      const refusal = { code: 'LOCK_OPTIONS', option: 'lease', value: lease, key: 'lease' };
      const refusing = lock(client, 'lease');
      await expect(refusing.acquire(options)).rejects.toMatchObject(refusal);
      await expect(refusing.tryAcquire(options)).rejects.toMatchObject(refusal);
      await expect(refusing.using(async () => {}, options)).rejects.toMatchObject(refusal);
    },
  );

  it.each([0, -1, NaN, Infinity, '5'])('rejects a maxHold of %p', async (maxHold) => {
    await expect(
      lock(client, 'maxHold').acquire({ maxHold: maxHold as number }),
    ).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option: 'maxHold', value: maxHold });
  });

  it.each([undefined, null, 5, '', 'a\0b', 'a\ud800', 'ä'.repeat(257)])(
    'rejects %p as a key',
    (key) => {
      expect(() => lock(client, key as string)).toThrow(LockKeyError);
    },
  );
});

describe('A lease on a Redis that is far away', () => {
  let relay: Relay;

  beforeAll(async () => {
    relay = await Relay.start(server, 60); // 120 ms for a round trip
  });
  afterAll(() => relay.stop());

  it.each(Object.entries(RECIPES))(
    'has to be longer than three round trips (%s)',
    async (key, lock) => {
      const connect = { host: relay.host, port: relay.port };
      const client = await createRedisLockClient('far', { connect });
      await client.connect();
      const refusal = { code: 'LOCK_OPTIONS', option: 'lease', key };
      await expect(lock(client, key).acquire({ lease: 300 })).rejects.toMatchObject(refusal);
      await expect(lock(client, key).tryAcquire({ lease: 300 })).rejects.toThrow('round trips');
      const lease = await lock(client, key).acquire({ lease: 20_000 });
      expect(lease.isHeld).toBe(true);
      await client.close();
    },
  );

  it('may be short when only one answer was late', async () => {
    const user = server.client();
    await user.ping();
    await server.command('client', 'pause', 400);
    const client = await createRedisLockClient('near', { client: user });
    await client.connect(); // its first command is answered after the pause
    const lease = await client.mutex('near').acquire({ lease: 300 });
    await lease.release();
    await client.close();
  });
});
