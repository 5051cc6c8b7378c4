import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { LockLostError } from '../../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis-server.js';
import { lossOf } from '../support/loss-of.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import { ALL_LOCKS } from '../support/redis-lock-kinds.js';

/** So long that a lease which ends in a test has not ended by itself. */
const LONG = 60_000;

describe('When Redis is killed and starts again without its data,', () => {
  const clients = new RedisLockClients();
  let server: RedisServer;
  let holder: RedisLockClient;
  let key: string;

  beforeAll(async () => {
    server = await RedisServer.start();
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

  it.each(ALL_LOCKS)(
    'the lease of a %s is lost as soon as there is a connection',
    async (_, of) => {
      const lease = await of(holder, key).acquire();
      const losses: string[] = [];
      holder.on('lost', (event) => losses.push(event.key));
      const lost = lossOf(lease);
      await forget();
      await lost;
      expect(lease.isHeld).toBe(false);
      expect(lease.signal.reason).toBeInstanceOf(LockLostError);
      expect(() => lease.assertHeld()).toThrow('forgotten');
      expect(losses).toEqual([key]);
    },
  );

  it.each(ALL_LOCKS)('so is that of a %s which is not renewed', async (_, of) => {
    const lease = await of(holder, key).acquire({ lease: LONG });
    const lost = lossOf(lease);
    await forget();
    await lost;
    expect(lease.isHeld).toBe(false);
    expect(() => lease.assertHeld()).toThrow('forgotten');
  });

  it('the release of what was lost does not free the lock of the next holder', async () => {
    const lease = await holder.mutex(key).acquire();
    const lost = lossOf(lease);
    await forget();
    const next = await (await clients.on(server.client())).mutex(key).acquire();
    await lost;
    await lease.release();
    expect(await server.command('HEXISTS', key, next.holder)).toBe(1);
    expect(next.isHeld).toBe(true);
  });

  it('the waiter is granted the lock', async () => {
    await holder.mutex(key).acquire();
    const waiter = await clients.on(server.client());
    const contended = new Promise((resolve) => waiter.on('contended', resolve));
    const queued = waiter.mutex(key).acquire();
    await contended;
    await forget();
    expect((await queued).isHeld).toBe(true);
  });

  it.each(ALL_LOCKS)('the next %s is renewed as ever', async (_, of) => {
    const locks = await clients.on(server.client(), { watchdogTimeout: 900 });
    const lost = lossOf(await of(locks, key).acquire());
    await forget();
    await lost;

    const lease = await of(locks, key).acquire();
    const first = Number(await server.command('PEXPIRETIME', key));
    await eventually('its first lease would be over', () => Date.now() > first);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    expect(await server.command('PEXPIRETIME', key)).toBeGreaterThan(first);
    await lease.release();
    expect(await server.command('EXISTS', key)).toBe(0);
  });
});
