import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { LockLostError } from '../../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis-server.js';
import { lossOf } from '../support/loss-of.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import { SEMAPHORES } from './semaphore-kinds.js';
import { permitsOf } from './semaphore-permits-of.js';

/** So long that a lease which ends in a test has not ended by itself. */
const LONG = 60_000;

describe.each(SEMAPHORES)('When Redis forgets all about a %s,', (_name, of) => {
  const clients = new RedisLockClients();
  let server: RedisServer;
  let redis: Redis;
  let holder: RedisLockClient;
  let key: string;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    key = randomUUID();
    holder = await clients.on(server.client());
  });
  afterEach(() => clients.close());

  async function forget(): Promise<void> {
    await server.kill();
    await server.restart();
  }

  it.each([
    ['renewed', undefined],
    ['not renewed', LONG],
  ])('leases that are %s are lost as soon as there is a connection', async (_, lease) => {
    const semaphore = of(holder, key);
    const leases = [
      await semaphore.acquire({ permits: 2, lease }),
      await semaphore.acquire({ lease }),
    ];
    const losses = leases.map(lossOf);
    await forget();
    await Promise.all(losses);
    for (const lease of leases) {
      expect([lease.isHeld, lease.remaining()]).toEqual([false, 0]);
      expect(lease.signal.reason).toBeInstanceOf(LockLostError);
      expect(() => lease.assertHeld()).toThrow('forgotten');
    }
  });

  it('there are as many permits as before, and what was lost does not add to them', async () => {
    const before = await of(holder, key).acquire({ permits: 2 });
    const lost = lossOf(before);
    await forget();
    await lost;
    const next = await of(holder, key).acquire({ permits: 2 });
    await before.release();
    expect(await permitsOf(redis, key)).toMatchObject({ free: 1, taken: 2 });
    expect(next.isHeld).toBe(true);
    await next.release();
    expect(await permitsOf(redis, key)).toMatchObject({ free: 3, taken: 0 });
  });

  it('a waiter is granted permits, and no more than there are', async () => {
    await of(holder, key).acquire({ permits: 3 });
    const waiter = await clients.on(server.client());
    let contended = 0;
    waiter.on('contended', () => (contended += 1));
    const granted: number[] = [];
    const queued = [1, 2, 1].map(async (permits) => {
      const lease = await of(waiter, key).acquire({ permits });
      granted.push(permits);
      return lease;
    });
    await eventually('all wait', () => contended === queued.length);
    await forget();
    await Promise.all(queued.slice(0, 2));
    expect(await permitsOf(redis, key)).toMatchObject({ free: 0, taken: 3 });
    await (await queued[0]!).release();
    expect(await queued[2]!).toMatchObject({ isHeld: true });
    expect(granted).toEqual([1, 2, 1]);
  });

  it('the next permits are renewed as ever', async () => {
    const locks = await clients.on(server.client(), { watchdogTimeout: 1_500 });
    const lost = lossOf(await of(locks, key).acquire());
    await forget();
    await lost;

    const lease = await of(locks, key).acquire({ permits: 3 });
    const { end: first } = await permitsOf(redis, key);
    await eventually('the first lease would be over', () => Date.now() > first);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    expect((await permitsOf(redis, key)).end).toBeGreaterThan(first);
    await lease.release();
    expect(await permitsOf(redis, key)).toMatchObject({ free: 3, taken: 0 });
  });
});
