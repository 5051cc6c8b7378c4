import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { eventually } from '../support/eventually.js';
import { KEPT } from '../support/kept-keys.js';
import { RedisServer } from '../support/redis-server.js';
import { RECIPES } from './recipes.js';

const PASSWORD = 'sesame';

/** A user's client, as the two majors create it. */
const MAKE = {
  'ioredis 6': (options: object) => new Redis(options),
  'ioredis 5': (options: object) => new Redis5(options) as unknown as Redis,
};

describe.each(Object.entries(MAKE))('A client of %s that its user keeps using', (_, make) => {
  let server: RedisServer;
  let user: Redis;
  const open = new Set<RedisLockClient>();

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  beforeEach(() => {
    user = made();
  });
  afterEach(async () => {
    await Promise.all([...open].map((client) => client.close()));
    open.clear();
    user.disconnect();
    await server.command('FLUSHALL');
  });
  afterAll(() => server.stop());

  function made(options: object = {}): Redis {
    const { host, port } = server;
    return make({ host, port, disconnectTimeout: 0, ...options });
  }

  async function connected(options: Partial<RedisLockOptions> = {}): Promise<RedisLockClient> {
    const client = await createRedisLockClient('shared', {
      client: user,
      ...options,
    });
    open.add(client);
    await client.connect();
    return client;
  }

  it('for a blocking command keeps no lock waiting, and loses none', async () => {
    const client = await connected({ watchdogTimeout: 1_000 });
    const leases = await Promise.all(
      Object.entries(RECIPES).map(([name, lock]) => lock(client, `held ${name}`).acquire()),
    );
    const popped = user.blpop('queue', 0);
    await eventually('it blocks', async () => {
      return String(await server.command('INFO', 'clients')).includes('blocked_clients:1');
    });
    const lossOf = leases.map(({ signal }) => signal);
    const since = performance.now();
    for (const [name, lock] of Object.entries(RECIPES))
      await (await lock(client, `free ${name}`).acquire({ wait: 20_000 })).release();
    await eventually('leases would be over', () => performance.now() - since > 2_000);
    expect(lossOf.map(({ aborted }) => aborted)).toEqual(leases.map(() => false));
    await Promise.all(leases.map((lease) => lease.release()));

    await server.command('RPUSH', 'queue', 'done');
    expect(await popped).toEqual(['queue', 'done']);
  });

  it('for a transaction does not pull our commands into it', async () => {
    const client = await connected();
    await user.multi({ pipeline: false });
    for (const [name, lock] of Object.entries(RECIPES)) {
      const lease = await lock(client, name).acquire({ wait: 20_000 });
      await lease.release();
    }
    await user.set('a', 1);
    await user.discard();
    const keys = (await server.command('KEYS', '*')) as string[];
    expect(keys.filter((key) => !KEPT.test(key))).toEqual([]);
  });

  it('for subscriptions sends no commands any more, and locks keep working', async () => {
    user.disconnect();
    user = made({ protocol: 2 });
    const client = await connected();
    await user.subscribe('news');
    for (const [name, lock] of Object.entries(RECIPES))
      await (await lock(client, name).acquire({ wait: 20_000 })).release();
  });

  it('is never connected by us where it connects at its first command', async () => {
    user.disconnect();
    user = made({ lazyConnect: true });
    const client = await connected();
    await (await client.mutex('lazy').acquire()).release();
    await client.close();
    expect(user.status).toBe('wait');
  });

  it('has its locks in the database that it has selected', async () => {
    await user.select(3);
    const client = await connected();
    await using _ = await client.mutex('selected').acquire();
    expect(await user.exists('selected')).toBe(1);
    await user.select(0);
    expect(await user.exists('selected')).toBe(0);
    expect(await client.mutex('selected').isLocked()).toBe(true);
  });

  it('logs in with its current password when the connection breaks', async () => {
    await server.command('ACL', 'SETUSER', 'cloud', 'on', `>${PASSWORD}`, '~*', '&*', '+@all');
    user.disconnect();
    user = made({ username: 'cloud', password: PASSWORD });
    const client = await connected();
    await (await client.mutex('before').acquire()).release();
    await server.command('ACL', 'SETUSER', 'cloud', 'resetpass', '>another');
    user.options.password = 'another';
    await server.command('CLIENT', 'KILL', 'USER', 'cloud');
    await (await client.mutex('after').acquire({ wait: 20_000 })).release();
  });
});
