import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5, type RedisOptions as Redis5Options } from 'ioredis5';
import type { RedisClient } from '../../lib/redis/connection/ioredis.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { calm } from '../support/calm.js';
import { eventually } from '../support/eventually.js';
import { KEPT } from '../support/kept-keys.js';
import { RedisProxy } from '../support/redis-proxy.js';
import { RedisServer } from '../support/redis-server.js';

type Make = (host: string, port: number) => RedisClient;

const SETTINGS: Record<string, RedisOptions> = {
  'default settings': {},
  'automatic pipelines': { enableAutoPipelining: true },
  'commands that never give up': { maxRetriesPerRequest: null },
  'commands that give up at once': { maxRetriesPerRequest: 0 },
  'no offline queue': { enableOfflineQueue: false },
  'no ready check': { enableReadyCheck: false },
  'no connection before it is used': { lazyConnect: true },
  'a time-out of commands': { commandTimeout: 5_000 },
  'no automatic subscriptions': { autoResubscribe: false },
  'numbers as texts': { stringNumbers: true },
  'another database': { db: 5 },
};
const PROTOCOLS: Record<string, RedisOptions> = {
  RESP2: { protocol: 2 },
  RESP3: { protocol: 3 },
  'the shapes of RESP3': { protocol: 3, replyMapping: 'resp3' },
};

const make6 =
  (options: RedisOptions): Make =>
  (host, port) =>
    new Redis({ host, port, disconnectTimeout: 0, ...options });
const make5 =
  (options: RedisOptions): Make =>
  (host, port) =>
    new Redis5({ host, port, disconnectTimeout: 0, ...options } as Redis5Options);

const CLIENTS: [string, Make][] = [
  ...Object.entries({ ...SETTINGS, ...PROTOCOLS }).map(([name, options]): [string, Make] => [
    `ioredis 6 with ${name}`,
    make6(options),
  ]),
  ...Object.entries(SETTINGS).map(([name, options]): [string, Make] => [
    `ioredis 5 with ${name}`,
    make5(options),
  ]),
];

describe.each(CLIENTS)('A client of %s', (_, make) => {
  let server: RedisServer;
  let proxy: RedisProxy;
  let user: RedisClient;
  let mine: RedisLockClient;
  let theirs: RedisLockClient;

  beforeAll(async () => {
    server = await RedisServer.start();
    proxy = await RedisProxy.start(server);
    user = make(proxy.host, proxy.port);
    const client = user;
    mine = await createRedisLockClient('mine', { client });
    theirs = await createRedisLockClient('theirs', { client, watchdogTimeout: 900 });
    await Promise.all([mine.connect(), theirs.connect()]);
  });
  afterAll(async () => {
    await Promise.all([mine.close(), theirs.close()]);
    user.disconnect();
    await proxy.stop();
    await server.stop();
  });
  afterEach(async () => {
    await eventually('no lock is left', async () => {
      const keys = [await user.call('keys', '*')].flat();
      return keys.every((key) => KEPT.test(String(key)));
    });
  });

  const KINDS = {
    'a mutex': (client: RedisLockClient) => client.mutex('mutex'),
    'a fair mutex': (client: RedisLockClient) => client.mutex('fair', { fair: true }),
    'a fenced mutex': (client: RedisLockClient) => client.mutex('fenced', { fenced: true }),
    'a write lock': (client: RedisLockClient) => client.readWriteLock('write').writeLock(),
  };

  it.each(Object.entries(KINDS))('keeps others out with %s, and passes it on', async (_, lock) => {
    const lease = await lock(theirs).acquire();
    expect(await lock(mine).tryAcquire()).toBeUndefined();
    expect(await lease.fencingToken()).toBe(1n);
    await lease.release();
    await using next = await lock(mine).acquire({ wait: 5_000 });
    expect(await next.fencingToken()).toBe(2n);
  });

  it('lets readers in together, and keeps writers out', async () => {
    const lock = theirs.readWriteLock('read');
    await using lease = await lock.readLock().acquire({ method: 'Library.read' });
    await using another = await mine.readWriteLock('read').readLock().acquire();
    expect(await mine.readWriteLock('read').writeLock().tryAcquire()).toBeUndefined();
    const holders = new Map((await lock.holders()).map((holder) => [holder.id, holder]));
    expect([...holders.keys()].sort()).toEqual([lease.holder, another.holder].sort());
    expect(holders.get(lease.holder)).toMatchObject({ mode: 'read', method: 'Library.read' });
  });

  it('reports the holder of a lock, and for how long it is locked', async () => {
    const lock = mine.mutex('told');
    expect([await lock.isLocked(), await lock.remainTimeToLive()]).toEqual([false, -2]);
    await using lease = await theirs.mutex('told').acquire({ lease: 20_000, method: 'Orders.pay' });
    expect([await lock.isLocked(), await lock.holders()]).toMatchObject([
      true,
      [{ id: lease.holder, mode: 'alone', method: 'Orders.pay' }],
    ]);
    expect(await lock.remainTimeToLive()).toBeGreaterThan(10_000);
    expect(await lock.forceUnlock()).toBe(true);
    expect(await lock.forceUnlock()).toBe(false);
  });

  it('renews what it holds', async () => {
    await using lease = await theirs.mutex('renewed').acquire();
    const renewals = () => proxy.commands.filter(isScriptFor('renewed')).length;
    await eventually('it was renewed twice', () => renewals() >= 3); // with the acquire
    expect(lease.isHeld).toBe(true);
    await lease.extend(20_000);
    expect(lease.remaining()).toBeGreaterThan(10_000);
  });

  it('is woken by a message, and sends nothing while it waits', async () => {
    const asked = () => proxy.commands.filter(isScriptFor('awaited')).length;
    const lease = await theirs.mutex('awaited').acquire({ lease: 20_000 });
    const waiting = mine.mutex('awaited').acquire({ wait: 10_000 });
    await listening('awaited');
    await calm(asked);
    await lease.release();
    await (await waiting).release();
  });

  it('goes on when its connections break', async () => {
    const held = await mine.mutex('broken').acquire({ lease: 20_000 });
    const waiting = theirs.mutex('broken').acquire({ wait: 20_000 });
    await listening('broken');
    proxy.cut();
    await held.release();
    const lease = await waiting;
    expect(lease.isHeld).toBe(true);
    await lease.release();
  });

  async function listening(key: string): Promise<void> {
    await eventually('it listens', async () => {
      const channels = await server.command('PUBSUB', 'CHANNELS', `*{${key}}*`);
      return (channels as string[]).length > 0;
    });
  }
});

/** Whether that is a script sent for this lock. */
function isScriptFor(key: string): (command: readonly string[]) => boolean {
  return ([name, ...operands]) => /^evalsha$/i.test(name!) && operands.includes(key);
}
