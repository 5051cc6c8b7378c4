import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { RedisSentinel } from '../../support/redis-sentinel.js';
import { lossOf } from '../support/loss-of.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import { SEMAPHORES } from './semaphore-kinds.js';
import { permitsOf } from './semaphore-permits-of.js';

/** Longer than a failover takes. */
const LEASE = 15_000;

describe.each(SEMAPHORES)('When a replica takes over by the sentinels, of a %s', (_name, of) => {
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

  it('permits stay held, are renewed there, and go on to the waiter', async () => {
    const lease = await of(holder, key).acquire({ permits: 2 });
    const fixed = await of(holder, key).acquire({ lease: 60_000 });
    const contended = new Promise((resolve) => other.on('contended', resolve));
    const queued = of(other, key).acquire({ permits: 2 });
    await contended;
    await sentinel.failOver();
    const redis = (await sentinel.master()).client();
    const [id] = lease.permitIds;
    await eventually('it was renewed', async () => {
      const left = await of(other, key).getLeaseTime(id!);
      return left !== undefined && left > LEASE - 1_000;
    });
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    expect([fixed.isHeld, fixed.signal.aborted]).toEqual([true, false]);
    expect(await permitsOf(redis, key)).toMatchObject({ free: 0, taken: 3 });

    await lease.release();
    const releasedAt = performance.now();
    const next = await queued;
    expect(performance.now() - releasedAt).toBeLessThan(1_000);
    expect(await permitsOf(redis, key)).toMatchObject({ free: 0, taken: 3 });
    await Promise.all([next.release(), fixed.release()]);
    expect(await permitsOf(redis, key)).toMatchObject({ free: 3, taken: 0 });
  });

  it('which has not heard of it yet, holders are notified as soon as they are connected', async () => {
    const [master, replica] = [await sentinel.master(), await sentinel.replica()];
    replica.freeze();
    await master.command('CLIENT', 'KILL', 'TYPE', 'replica');
    const lease = await of(holder, key).acquire({ permits: 2 });
    const fixed = await of(holder, key).acquire({ lease: 60_000 });
    const losses = [lossOf(lease), lossOf(fixed)];
    await master.kill();
    replica.thaw();
    await Promise.all(losses);
    expect(() => lease.assertHeld()).toThrow('forgotten');
    expect(() => fixed.assertHeld()).toThrow('forgotten');
    expect(await of(other, key).acquire({ permits: 3 })).toMatchObject({ isHeld: true });
  });
});
