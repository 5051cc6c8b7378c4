import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';

const [, command = ''] = /^```acl\n(.*)\n```$/m.exec(readFileSync('docs/redis.md', 'utf8')) ?? [];

describe('The permissions listed in the documentation', () => {
  let server: RedisServer;
  let first: RedisLockClient;
  let second: RedisLockClient;

  beforeAll(async () => {
    server = await RedisServer.start();
    const [name = '', ...args] = command.split(' ');
    await server.command(name, ...args);
    first = await clientOf(server);
    second = await clientOf(server);
  });
  afterAll(async () => {
    await Promise.all([first.close(), second.close()]);
    await server.stop();
  });

  it.each([
    ['mutex', (locks: RedisLockClient) => locks.mutex('mutex')],
    ['fair mutex', (locks: RedisLockClient) => locks.mutex('fair', { fair: true })],
    ['fenced mutex', (locks: RedisLockClient) => locks.mutex('fenced', { fenced: true })],
    ['semaphore mutex', (locks: RedisLockClient) => locks.semaphoreMutex('semaphore')],
    ['semaphore', (locks: RedisLockClient) => locks.semaphore('permits', { permits: 1 })],
    [
      'fair semaphore',
      (locks: RedisLockClient) => locks.semaphore('fair permits', { permits: 1, fair: true }),
    ],
    ['read lock', (locks: RedisLockClient) => preferring(locks, 'reads').readLock()],
    ['write lock', (locks: RedisLockClient) => preferring(locks, 'writes').writeLock()],
  ] as const)('are enough for a %s with a waiter', async (_, lockOf) => {
    const lock = lockOf(first);
    const holder = await lock.acquire();
    const waiting = isShared(lock.key) ? preferring(second, 'reads').writeLock() : lockOf(second);
    const waiter = waiting.acquire();
    await eventually('it is listened to', async () => (await channels(server)) === 1);
    expect(await holder.fencingToken()).toBe(1n);
    await holder.extend(1_000);
    await holder.release();
    await (await waiter).release();
  });

  it('are enough for several mutexes at once, and for a spin lock', async () => {
    await using both = await first.multiLock([first.mutex('a'), first.mutex('b')]).acquire();
    await using spin = await first.spinLock('spin').acquire();
    expect([both.isHeld, spin.isHeld]).toEqual([true, true]);
  });

  it('are enough for a plain semaphore and a latch, each with a waiter', async () => {
    const [semaphore, latch] = [first.plainSemaphore('plain'), first.countDownLatch('latch')];
    expect(await semaphore.trySetPermits(1)).toBe(true);
    expect(await latch.trySetCount(1)).toBe(true);
    await semaphore.acquire();
    const waiters = [
      second.plainSemaphore('plain').acquire(),
      second.countDownLatch('latch').await(),
    ];
    await eventually('both are listened to', async () => (await channels(server)) === 2);
    await semaphore.release();
    await latch.countDown();
    await Promise.all(waiters);
  });

  it('are enough for an operator', async () => {
    const mutex = first.mutex('mutex');
    await mutex.acquire();
    expect(await mutex.holders()).toHaveLength(1);
    expect(await mutex.isLocked()).toBe(true);
    expect(await mutex.remainTimeToLive()).toBeGreaterThan(0);
    expect(await mutex.forceUnlock()).toBe(true);
    const readWriteLock = first.readWriteLock('reads');
    await readWriteLock.readLock().acquire();
    expect(await readWriteLock.holders()).toHaveLength(1);
    expect(await readWriteLock.forceUnlock('read')).toBe(true);
  });

  it('give no access without the prefix', async () => {
    const stranger = await clientOf(server, '');
    await expect(stranger.mutex('mutex').acquire()).rejects.toThrow('NOPERM');
    await stranger.close();
  });
});

const preferring = (locks: RedisLockClient, key: string) =>
  locks.readWriteLock(key, { preferWriters: true });

const isShared = (key: string) => key === 'reads';

async function clientOf({ host, port }: RedisServer, prefix = 'shop:'): Promise<RedisLockClient> {
  const connect = { host, port, username: 'locks', password: 'secret' };
  const client = await createRedisLockClient('test', { connect, prefix });
  await client.connect();
  return client;
}

async function channels(server: RedisServer): Promise<number> {
  return ((await server.command('PUBSUB', 'CHANNELS')) as string[]).length;
}
