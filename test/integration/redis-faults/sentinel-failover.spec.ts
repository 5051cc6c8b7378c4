import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { scriptCalls } from '../../redis/script-calls.js';
import { calm } from '../../support/calm.js';
import { eventually } from '../../support/eventually.js';
import { RedisSentinel } from '../../support/redis-sentinel.js';
import { lossOf } from '../support/loss-of.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';

/** Longer than a failover takes. */
const LEASE = 15_000;

describe('When a replica takes over by the sentinels', () => {
  const clients = new RedisLockClients();
  let sentinel: RedisSentinel;
  let holder: RedisLockClient;
  let other: RedisLockClient;
  let key: string;

  beforeAll(async () => {
    sentinel = await RedisSentinel.start();
  });
  afterAll(() => sentinel.stop());

  beforeEach(async () => {
    key = randomUUID();
    await sentinel.restart();
    const connect = () => clients.on(sentinel.client(), { watchdogTimeout: LEASE });
    [holder, other] = await Promise.all([connect(), connect()]);
  });
  afterEach(() => clients.close());

  /** The other client waits for that lock. */
  async function contended(): Promise<{ granted: Promise<number>; release: () => Promise<void> }> {
    const isContended = new Promise((resolve) => other.on('contended', resolve));
    const queued = other.mutex(key).acquire();
    await isContended;
    return {
      granted: queued.then(() => performance.now()),
      release: async () => (await queued).release(),
    };
  }

  it('the holder stays the holder, is renewed there, and hands the lock on', async () => {
    const lease = await holder.mutex(key).acquire();
    const fixed = await holder.mutex(`${key} fixed`).acquire({ lease: 60_000 });
    const waiter = await contended();
    await sentinel.failOver();
    const master = await sentinel.master();
    await eventually(
      'it was renewed',
      async () => Number(await master.command('PTTL', key)) > LEASE - 1_000,
    );
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    expect([fixed.isHeld, fixed.signal.aborted]).toEqual([true, false]);
    expect(await master.command('HEXISTS', key, lease.holder)).toBe(1);

    await lease.release();
    const releasedAt = performance.now();
    expect((await waiter.granted) - releasedAt).toBeLessThan(1_000);
    await waiter.release();
    expect(await master.command('EXISTS', key)).toBe(0);
  });

  it('messages come from there', async () => {
    await sentinel.failOver();
    await holder.mutex(key).using(() => {});
    const master = await sentinel.master();
    const lease = await holder.mutex(key).acquire();
    const waiter = await contended();
    await eventually('it listens', async () => {
      const [, count] = (await master.command(
        'PUBSUB',
        'NUMSUB',
        `redisson_lock__channel:{${key}}`,
      )) as [string, number];
      return count === 1;
    });
    await calm(() => scriptCalls(master));
    await lease.release();
    const releasedAt = performance.now();
    expect((await waiter.granted) - releasedAt).toBeLessThan(1_000);
    await waiter.release();
  });

  it('which has not heard of the lock yet, the holder is notified as soon as it is connected', async () => {
    const [master, replica] = [await sentinel.master(), await sentinel.replica()];
    replica.freeze();
    await master.command('CLIENT', 'KILL', 'TYPE', 'replica');
    const lease = await holder.mutex(key).acquire();
    const fixed = await holder.mutex(`${key} fixed`).acquire({ lease: 60_000 });
    const losses = [lossOf(lease), lossOf(fixed)];
    await master.kill();
    replica.thaw();
    await Promise.all(losses);
    expect(() => lease.assertHeld()).toThrow('forgotten');
    expect(() => fixed.assertHeld()).toThrow('forgotten');
    expect(await other.mutex(key).acquire()).toMatchObject({ isHeld: true });
  });
});
