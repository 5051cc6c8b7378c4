import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { LockTimeoutError } from '../../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { isSettled } from '../../support/is-settled.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import { ALL_LOCKS, EXCLUSIVE_LOCKS, type AnyRedisLock } from '../support/redis-lock-kinds.js';

const LEASE = 1_000;

describe('When the grant of', () => {
  const clients = new RedisLockClients();
  let server: RedisServer;
  let proxy: RedisProxy;
  let locks: RedisLockClient;
  let key: string;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    key = randomUUID();
    proxy = await RedisProxy.start(server);
    locks = await clients.on(server.client({ port: proxy.port }), { watchdogTimeout: LEASE });
  });
  afterEach(async () => {
    proxy.resume();
    await clients.close();
    await proxy.stop();
  });

  /** From now on answers are held; the server knows the scripts of that lock. */
  async function holdReplies(lock: AnyRedisLock): Promise<void> {
    await lock.using(() => {});
    proxy.holdReplies();
  }

  const timeToLive = async () => Number(await server.command('PTTL', key));

  it.each(ALL_LOCKS)('a %s comes when its lease is almost over, it is fresh', async (_, of) => {
    await holdReplies(of(locks, `${key} before`));
    const acquired = of(locks, key).acquire({ lease: LEASE });
    await eventually('it is granted', async () => (await timeToLive()) > 0);
    await eventually('most of its lease is over', async () => (await timeToLive()) < LEASE / 4);
    expect(await isSettled(acquired)).toBe(false);
    proxy.resume();

    const lease = await acquired;
    expect(lease.remaining()).toBeGreaterThan(LEASE / 2);
    expect(await timeToLive()).toBeGreaterThan(LEASE / 4);
    await lease.release();
    expect(await server.command('EXISTS', key)).toBe(0);
  });

  it.each(EXCLUSIVE_LOCKS)(
    'a %s comes when another client has it, it is not handed out',
    async (_, of) => {
      await holdReplies(of(locks, `${key} before`));
      const acquired = of(locks, key).acquire({ lease: LEASE });
      await eventually('it is granted', async () => (await timeToLive()) > 0);
      const other = await clients.on(server.client());
      const theirs = await of(other, key).acquire();
      const contended = new Promise((resolve) => locks.on('contended', resolve));
      proxy.resume();
      await contended;
      expect(await isSettled(acquired)).toBe(false);

      await theirs.release();
      expect((await acquired).isHeld).toBe(true);
    },
  );

  it('a mutex comes after the wait is over, it is released', async () => {
    await holdReplies(locks.mutex(`${key} before`));
    const acquired = locks.mutex(key).acquire({ wait: 100 });
    await expect(acquired).rejects.toThrow(LockTimeoutError);
    expect(await timeToLive()).toBeGreaterThan(0);
    proxy.resume();
    await eventually('it is free', async () => (await timeToLive()) === -2, { within: LEASE / 2 });
  });
});
