import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { LockLostError } from '../../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis-server.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import { SEMAPHORES } from './semaphore-kinds.js';
import { permitsOf } from './semaphore-permits-of.js';

const LEASE = 5_000;

describe.each(SEMAPHORES)('When Redis pauses its clients, permits of a %s', (_name, of) => {
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
    holder = await clients.on(server.client(), { watchdogTimeout: LEASE });
  });
  afterEach(() => clients.close());

  /** When the permits would come back, in ms since 1970; read in the moment when the pause begins. */
  async function pause(ms: number, mode: string): Promise<number> {
    const ends = redis.multi().zrange(`{${key}}:timeout`, '-1', '-1', 'WITHSCORES');
    const [[, last]] = (await ends.call('client', 'pause', ms, mode).exec()) as [
      [null, string[]],
      unknown,
    ];
    return Number(last[1]);
  }

  it('stay held when it is for half the lease', async () => {
    const lease = await of(holder, key).acquire({ permits: 2 });
    const end = await pause(LEASE / 2, 'ALL');
    await redis.set('answered when', 'the pause is over');
    await eventually('the lease would be over', () => Date.now() > end);

    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    const renewed = await permitsOf(redis, key);
    expect(renewed).toMatchObject({ free: 1, taken: 2 });
    expect(renewed.end).toBeGreaterThan(end);
    await lease.release();
    expect(await permitsOf(redis, key)).toMatchObject({ free: 3, taken: 0 });
  });

  it.each(['ALL', 'WRITE'])(
    'are lost before they come back when it is for longer (%s)',
    async (mode) => {
      const lease = await of(holder, key).acquire({ permits: 2 });
      const other = await clients.on(server.client());
      const contended = new Promise((resolve) => other.on('contended', resolve));
      const queued = of(other, key).acquire({ permits: 2 });
      await contended;

      const wasTold = queued.then(() => lease.signal.reason as unknown);
      const end = await pause(1.5 * LEASE, mode);
      const now = Date.now();
      expect(now + lease.remaining()).toBeLessThan(end); // up to then it claims to be held
      const next = await queued;
      expect(Date.now()).toBeGreaterThanOrEqual(end);
      expect(await wasTold).toBeInstanceOf(LockLostError);
      expect(lease.isHeld).toBe(false);

      await lease.release();
      expect(await permitsOf(redis, key)).toMatchObject({ free: 1, taken: 2 });
      expect(next.isHeld).toBe(true);
    },
  );
});
