// Bugs of other lock libraries, each reproduced there: none of them may happen here.
// Those that concern the decorators are in test/e2e/redis-decorators.servers.spec.ts.
import { beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { LockLostError, LockTimeoutError } from '../../lib/core/errors/index.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { lockRenew } from '../../lib/redis/scripts/index.js';
import { lossOf } from '../faults/support/leases.js';
import { earliest, eventually } from '../support/time.js';
import { useCleanup, useRedis } from '../support/fixtures.js';
import { AT_ONCE, contended, useProxy } from './support/clients.js';

const KEY = 'stock';

const server = useRedis();
const cleanup = useCleanup();
const proxy = useProxy(server);

beforeEach(() => server().command('FLUSHALL'));

/** A client that is connected through the proxy. */
async function clientOf(watchdogTimeout: number): Promise<RedisLockClient> {
  const { host, port } = proxy();
  const connect = { host, port, ...AT_ONCE, retryStrategy: () => 20 };
  const client = await createRedisLockClient('bugs', { connect, watchdogTimeout });
  cleanup(client, () => client.close(100));
  await client.connect();
  return client;
}

const past = (at: number) => eventually('time went by', () => performance.now() > at);
const renewals = () => proxy().commands.filter(({ 1: sha1 }) => sha1 === lockRenew.sha1).length;

describe('Work that takes longer than the lease', () => {
  it('excludes others until its end', async () => {
    const [mine, theirs] = [await clientOf(1_500), await clientOf(1_500)];
    let inside = 0;
    let most = 0;
    const work = async (isDone: () => boolean) => {
      most = Math.max(most, (inside += 1));
      await eventually('the work is done', isDone);
      inside -= 1;
    };
    const long = mine.mutex(KEY).using(() => work(() => renewals() >= 4)); // more than one lease
    await eventually('it works', () => inside > 0);
    await Promise.all([long, theirs.mutex(KEY).using(() => work(() => true))]);
    expect([inside, most]).toEqual([0, 1]);
  });

  it('returns its result, though the lock was lost and cannot be released', async () => {
    const client = await clientOf(300);
    const result = await client.mutex(KEY).using(async ({ signal }) => {
      proxy().hold();
      await once(signal, 'abort');
      return 'paid';
    });
    expect(result).toBe('paid');
  });

  it('throws its own error, though the lock was lost and cannot be released', async () => {
    const client = await clientOf(300);
    const error = new RangeError('no money');
    const failing = client.mutex(KEY).using(async ({ signal }) => {
      proxy().hold();
      await once(signal, 'abort');
      throw error;
    });
    await expect(failing).rejects.toBe(error);
  });

  it('learns of a loss before the lease is over on the server', async () => {
    const client = await clientOf(2_000);
    const lease = await client.mutex(KEY).acquire();
    const over = Number(await server().command('pexpiretime', KEY));
    proxy().hold();
    expect(await lossOf(lease)).toBeLessThan(over); // both by the clock of this machine
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
  });
});

describe('A short lease', () => {
  const LEASE = 1_800;

  it('costs three renewals per lease, not thousands of commands', async () => {
    const client = await clientOf(LEASE);
    const lease = await client.mutex(KEY).acquire();
    const startedAt = performance.now();
    await eventually('it was renewed six times', () => renewals() >= 6);
    const leases = (performance.now() - startedAt) / LEASE;
    expect(lease.isHeld).toBe(true);
    expect(renewals()).toBeLessThanOrEqual(4 * leases + 1); // in steps of a tenth: 3.4 a lease
  });

  it('does not make a waiter poll', async () => {
    const [mine, theirs] = [await clientOf(LEASE), await clientOf(30_000)];
    const lease = await mine.mutex(KEY).acquire();
    const waiting = theirs.mutex(KEY).acquire();
    const asked = () => proxy().commands.filter((command) => command.includes(KEY)).length;
    await eventually('it was renewed six times', () => renewals() >= 6);
    // Its sleep is bounded by the lease of the holder: at most one look for each lease that elapsed.
    expect(asked() - renewals()).toBeLessThanOrEqual(renewals() + 4);
    await lease.release();
    await (await waiting).release();
  });
});

describe('A renewal that fails', () => {
  it('is not the last one', async () => {
    const client = await clientOf(3_000);
    const lease = await client.mutex(KEY).acquire();
    const loss = proxy().loseReply(({ 1: sha1 }) => sha1 === lockRenew.sha1);
    await eventually('a renewal was lost', () => loss.lost > 0);
    loss.stop();
    const before = renewals();
    await eventually('it goes on', () => renewals() >= before + 3);
    expect(lease.isHeld).toBe(true);
  });

  it('for good is reported to the holder, and causes no unhandled rejection, which would fail this test', async () => {
    const client = await clientOf(300);
    const lease = await client.mutex(KEY).acquire();
    await proxy().stop();
    await once(lease.signal, 'abort');
    await lease.release();
    await new Promise((resolve) => setImmediate(resolve));
    expect(lease.isHeld).toBe(false);
  });
});

describe('A waiter for the lock of a crashed holder', () => {
  const crashed = (ms: number) =>
    Promise.all([
      server().command('hset', KEY, 'somebody:1', 1),
      server().command('pexpire', KEY, ms),
    ]);

  it('waits for the end of its lease, and acquires the lock then, though no message comes', async () => {
    const client = await clientOf(30_000);
    await crashed(600);
    const lease = await client.mutex(KEY).acquire({ wait: 20_000 });
    expect(lease.isHeld).toBe(true);
    await lease.release();
  });

  it('does not time out before its maximum wait is over', async () => {
    const client = await clientOf(30_000);
    await crashed(60_000);
    const startedAt = performance.now();
    await expect(client.mutex(KEY).acquire({ wait: 700 })).rejects.toBeInstanceOf(LockTimeoutError);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(earliest(700));
  });
});

describe('A lease', () => {
  it('begins with the grant, not with the wait before it', async () => {
    const [mine, theirs] = [await clientOf(30_000), await clientOf(30_000)];
    const first = await theirs.mutex(KEY).acquire();
    const waits = contended(mine);
    const waiting = mine.mutex(KEY).acquire({ lease: 500 });
    await waits;
    await past(performance.now() + 600);
    await first.release();
    const lease = await waiting;
    expect(lease.remaining()).toBeGreaterThan(0);
    expect(Number(await server().command('pttl', KEY))).toBeGreaterThan(0);
  });
});

describe('A client without the lock', () => {
  it('does not release the lock of another holder', async () => {
    const [mine, theirs] = [await clientOf(30_000), await clientOf(30_000)];
    const held = await theirs.mutex(KEY).acquire();
    for (let i = 0; i < 3; i++) {
      const late = mine.mutex(KEY).using(async () => {}, { wait: 20 });
      await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
      await expect(
        mine.mutex(KEY).acquire({ signal: AbortSignal.timeout(20) }),
      ).rejects.toBeDefined();
      expect(await mine.mutex(KEY).tryAcquire()).toBeUndefined();
    }
    await mine.close(); // its background work is done then
    expect(await server().command('hexists', KEY, held.holder)).toBe(1);
    expect(held.isHeld).toBe(true);
  });

  it('that has lost it does not release the lock of the next holder', async () => {
    const [mine, theirs] = [await clientOf(30_000), await clientOf(30_000)];
    const lost = await mine.mutex(KEY).acquire({ lease: 100 });
    const held = await theirs.mutex(KEY).acquire({ wait: 5_000 });
    await lost.release();
    expect(await server().command('hexists', KEY, held.holder)).toBe(1);
    expect(await mine.mutex(KEY).tryAcquire()).toBeUndefined();
  });
});
