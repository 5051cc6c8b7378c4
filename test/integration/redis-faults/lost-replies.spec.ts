import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';
import { locksLeft } from '../support/locks-left.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import { ALL_LOCKS, type AnyRedisLock } from '../support/redis-lock-kinds.js';

const LOSSES = 1_000;

describe('When the reply is lost', () => {
  const clients = new RedisLockClients();
  let server: RedisServer;
  let redis: Redis;
  let proxy: RedisProxy;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    await redis.flushall();
    proxy = await RedisProxy.start(server);
  });
  afterEach(async () => {
    await clients.close();
    await proxy.stop();
  });

  /** @param maxRetriesPerRequest 0: the client does not send again what was not answered, so we do */
  function connect(maxRetriesPerRequest: number | null): Promise<RedisLockClient> {
    const { port } = proxy;
    const retryStrategy = () => 1;
    return clients.on(server.client({ port, retryStrategy, maxRetriesPerRequest }));
  }

  /** Does something while the reply to the next command about that key is lost. */
  async function losing<T>(key: string, work: () => Promise<T>): Promise<T> {
    const loss = proxy.loseReply((command) => command.includes(key) && loss.lost === 0);
    const result = await work();
    loss.stop();
    expect(loss.lost).toBe(1);
    return result;
  }

  /** How many holders a lock has; each with a count of 1. */
  async function holders(key: string): Promise<number> {
    const fields = await redis.hgetall(key);
    delete fields['mode'];
    delete fields['nestjs-interlock'];
    expect(Object.values(fields)).toEqual(Object.keys(fields).map(() => '1'));
    return Object.keys(fields).length;
  }

  /** Loses the reply to the acquire, or to the release; afterwards the lock is free. */
  async function cycle(lock: AnyRedisLock, key: string, command: string): Promise<void> {
    const lease = await (command === 'acquire'
      ? losing(key, () => lock.acquire())
      : lock.acquire());
    expect(await holders(key)).toBe(1);
    expect(lease.isHeld).toBe(true);
    await (command === 'release' ? losing(key, () => lease.release()) : lease.release());
    // A release that takes long goes on in the background.
    await eventually('it is free', async () => (await holders(key)) === 0);
  }

  describe.each([
    ['sends it again', null],
    ['does not send it again', 0],
  ])('and the Redis client %s,', (_name, maxRetriesPerRequest) => {
    it.each(ALL_LOCKS)('a %s is acquired once, and released', async (_, of) => {
      const locks = await connect(maxRetriesPerRequest);
      const key = randomUUID();
      await of(locks, `${key} before`).using(() => {}); // the server knows the scripts
      for (const command of ['acquire', 'release']) await cycle(of(locks, key), key, command);
      expect(await locksLeft(server)).toEqual([]);
    });
  });

  it('1,000 times, no lock is held twice, and none stays', async () => {
    const work = ALL_LOCKS.map(async ([, of]) => {
      const locks = await connect(null);
      const key = randomUUID();
      for (let n = 0; n < LOSSES / ALL_LOCKS.length; n++)
        await cycle(of(locks, key), key, n % 2 === 0 ? 'acquire' : 'release');
    });
    await Promise.all(work);
    expect(await locksLeft(server)).toEqual([]);
  });
});
