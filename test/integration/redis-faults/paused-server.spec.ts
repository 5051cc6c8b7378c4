import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { LockLostError } from '../../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis-server.js';
import { sinceRedis } from '../../support/redis-version.js';
import { lossOf } from '../support/loss-of.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';

/** A hundredth of it is between the loss and the end on the server: more than a busy machine takes for one turn. */
const LEASE = 5_000;

/** Asks for the expiry in the transaction that pauses the server, which Redis 6.2 cannot; semaphores are tested there. */
const describeSince7 = sinceRedis('7.0') ? describe : describe.skip;

describeSince7('When Redis pauses its clients', () => {
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

  /** When the lock would be free, in ms since 1970; read in the moment when the pause begins. */
  async function pause(ms: number, mode: string): Promise<number> {
    const transaction = redis.multi().call('pexpiretime', key).call('client', 'pause', ms, mode);
    const [[, expiry]] = (await transaction.exec()) as [[null, number], unknown];
    return expiry;
  }

  it('for half the lease, the lock stays held', async () => {
    const lease = await holder.mutex(key).acquire();
    const expiry = await pause(LEASE / 2, 'ALL');
    await redis.set('answered when', 'the pause is over');
    await eventually('the lease would be over', () => Date.now() > expiry);

    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    expect(await redis.pexpiretime(key)).toBeGreaterThan(expiry);
    await lease.release();
    expect(await redis.exists(key)).toBe(0);
  });

  it.each(['ALL', 'WRITE'])(
    'for longer than the lease (%s), the lock is lost before it is free',
    async (mode) => {
      const lease = await holder.mutex(key).acquire();
      const other = await clients.on(server.client());
      const contended = new Promise((resolve) => other.on('contended', resolve));
      const queued = other.mutex(key).acquire();
      await contended;

      const lost = lossOf(lease);
      const expiry = await pause(1.5 * LEASE, mode);
      expect(await lost).toBeLessThan(expiry);
      expect(lease.isHeld).toBe(false);
      expect(lease.signal.reason).toBeInstanceOf(LockLostError);

      const next = await queued;
      expect(Date.now()).toBeGreaterThanOrEqual(expiry);
      await lease.release();
      expect(await redis.hexists(key, next.holder)).toBe(1);
      expect(next.isHeld).toBe(true);
    },
  );
});
