import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import type { RedisPermitExpirableSemaphore } from '../../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import type { RedisSemaphore } from '../../../lib/redis/semaphores/redis-semaphore.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';
import { locksLeft } from '../support/locks-left.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import { SEMAPHORES } from './semaphore-kinds.js';
import { permitsOf } from './semaphore-permits-of.js';

const LOSSES = 500;

describe('When the reply about permits is lost', () => {
  const clients = new RedisLockClients();
  let server: RedisServer;
  let redis: Redis;
  let proxy: RedisProxy;
  let key: string;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    key = randomUUID();
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

  /** Does something while the reply to the next script about that key is lost. */
  async function losing<T>(key: string, work: () => Promise<T>): Promise<T> {
    const isScript = ([name, , , on]: readonly string[]) => /^eval/i.test(name!) && on === key;
    const loss = proxy.loseReply((command) => isScript(command) && loss.lost === 0);
    const result = await work();
    loss.stop();
    expect(loss.lost).toBe(1);
    return result;
  }

  /** Takes 2 of 3 permits, and gives them back; the reply to one of that is lost. */
  async function cycle(semaphore: RedisPermitExpirableSemaphore, lost: string): Promise<void> {
    const { key } = semaphore;
    const acquire = () => semaphore.acquire({ permits: 2 });
    const lease = await (lost === 'acquire' ? losing(key, acquire) : acquire());
    expect(await permitsOf(redis, key)).toMatchObject({ free: 1, taken: 2 });
    expect(lease.isHeld).toBe(true);
    expect(lease.permitIds).toHaveLength(2);
    await (lost === 'release' ? losing(key, () => lease.release()) : lease.release());
    // A release that takes long goes on in the background.
    await eventually('they are back', async () => (await permitsOf(redis, key)).taken === 0);
    expect(await permitsOf(redis, key)).toMatchObject({ free: 3 });
  }

  /** The same, of permits without an owner. */
  async function plainCycle(semaphore: RedisSemaphore, lost: string): Promise<void> {
    const { key } = semaphore;
    const acquire = () => semaphore.acquire({ permits: 2 });
    await (lost === 'acquire' ? losing(key, acquire) : acquire());
    expect(await redis.get(key)).toBe('1');
    const release = () => semaphore.release(2);
    await (lost === 'release' ? losing(key, release) : release());
    expect(await redis.get(key)).toBe('3');
  }

  const turn = (n: number) => (n % 2 === 0 ? 'acquire' : 'release');

  describe.each([
    ['sends it again', null],
    ['does not send it again', 0],
  ])('and the Redis client %s,', (_name, maxRetriesPerRequest) => {
    it.each(SEMAPHORES)('permits of a %s are taken once, and come back', async (_, of) => {
      const locks = await connect(maxRetriesPerRequest);
      for (const lost of ['acquire', 'release']) await cycle(of(locks, key), lost);
      expect(await locksLeft(server)).toHaveLength(2); // how many are free, and how many there are
    });

    it('permits without an owner are taken once', async () => {
      const semaphore = (await connect(maxRetriesPerRequest)).plainSemaphore(key);
      await semaphore.trySetPermits(3);
      await plainCycle(semaphore, 'acquire');
      await eventually('nothing else is left', async () => (await locksLeft(server)).length === 1);
    });
  });

  it(`${LOSSES} times, no permit is taken twice, and none is lost`, async () => {
    const work = SEMAPHORES.map(async ([name, of]) => {
      const semaphore = of(await connect(null), `${key} ${name}`);
      for (let n = 0; n < LOSSES / SEMAPHORES.length; n++) await cycle(semaphore, turn(n));
    });
    await Promise.all(work);
    expect(await locksLeft(server)).toHaveLength(2 * SEMAPHORES.length);
  });

  it(`${LOSSES} times, no permit without an owner is taken twice, and none is lost`, async () => {
    const semaphore = (await connect(null)).plainSemaphore(key);
    await losing(key, () => semaphore.trySetPermits(3));
    for (let n = 0; n < LOSSES; n++) await plainCycle(semaphore, turn(n));
    await eventually('nothing else is left', async () => (await locksLeft(server)).length === 1);
  });

  it('and the waiter has given up, permits without an owner come back', async () => {
    const semaphore = (await connect(null)).plainSemaphore(key);
    await semaphore.trySetPermits(3);
    for (let n = 0; n < 20; n++) {
      const abort = new AbortController();
      const loss = proxy.loseReply(([name, , , on]) => /^eval/i.test(name!) && on === key);
      const acquired = semaphore.acquire({ permits: 2, signal: abort.signal });
      await eventually('it was lost', () => loss.lost > 0);
      abort.abort();
      await expect(acquired).rejects.toMatchObject({ name: 'LockAbortedError' });
      loss.stop();
      await eventually('they are back', async () => (await redis.get(key)) === '3');
    }
    await eventually('nothing else is left', async () => (await locksLeft(server)).length === 1);
  });
});
