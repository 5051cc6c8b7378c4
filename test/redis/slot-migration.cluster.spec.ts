import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLease } from '../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import { RedisCluster } from '../support/redis-cluster.js';

/** All in one slot. */
const [STAYED, MOVED, THIRD] = ['{order}:1', '{order}:2', '{order}:3'] as const;
/** Long enough for a client that has to try again, and does so for more than a second and a half. */
const WATCHDOG_TIMEOUT = 6_000;

/** A slot of which some keys have moved: every command with keys of both parts is refused, on both servers. */
describe('Mutexes of a half-migrated slot', () => {
  let cluster: RedisCluster;
  let mine: RedisLockClient;
  let theirs: RedisLockClient;
  const lost: string[] = [];

  beforeAll(async () => {
    cluster = await RedisCluster.start();
  }, 60_000);
  afterAll(() => cluster.stop());
  beforeEach(async () => {
    [mine, theirs] = await Promise.all([connect(), connect()]);
    lost.length = 0;
    mine.on('lost', ({ key }) => void lost.push(key));
  });
  afterEach(() => Promise.all([mine.close(), theirs.close()]));

  it('are renewed, although one command for all of them is refused', async () => {
    const leases = [await mine.mutex(STAYED).acquire(), await mine.mutex(MOVED).acquire()];
    await cluster.migrate(STAYED, async (move) => {
      await move(MOVED);
      for (const lease of leases) await renewed(lease, 2); // one may have been under way
    });
    expect(lost).toEqual([]);
    for (const lease of leases) await lease.release();
  }, 60_000);

  it('are released and acquired', async () => {
    const leases = [await mine.mutex(STAYED).acquire(), await mine.mutex(MOVED).acquire()];
    await cluster.migrate(STAYED, async (move) => {
      await move(MOVED);
      for (const lease of leases) await lease.release();
      for (const key of [STAYED, MOVED, THIRD]) {
        expect(await theirs.mutex(key).isLocked()).toBe(false);
        const lease = await theirs.mutex(key).acquire();
        expect(await mine.mutex(key).tryAcquire()).toBeUndefined();
        await lease.release();
        expect(await mine.mutex(key).isLocked()).toBe(false);
      }
    });
    expect(lost).toEqual([]);
  }, 60_000);

  it('go to the next waiter', async () => {
    const leases = [await mine.mutex(STAYED).acquire(), await mine.mutex(MOVED).acquire()];
    await cluster.migrate(STAYED, async (move) => {
      await move(MOVED);
      const waiting = [theirs.mutex(STAYED).acquire(), theirs.mutex(MOVED).acquire()];
      await eventually('they wait', () => theirs.activity().length === 2);
      for (const lease of leases) await lease.release();
      for (const next of waiting) await (await next).release();
    });
  }, 60_000);

  async function connect(): Promise<RedisLockClient> {
    const options = { redisOptions: { disconnectTimeout: 0 } };
    const client = await createRedisLockClient('test', {
      cluster: { nodes: cluster.nodes, options },
      watchdogTimeout: WATCHDOG_TIMEOUT,
    });
    await client.connect();
    return client;
  }

  /** Resolves once the lease was renewed that many times: only a renewal increases its remaining time. */
  async function renewed(lease: RedisLease, times: number): Promise<void> {
    for (let time = 1; time <= times; time++) {
      let least = lease.remaining();
      await eventually(
        `${lease.key} is renewed`,
        () => {
          if (lease.remaining() > least) return true;
          least = lease.remaining();
          return false;
        },
        { within: 20_000 },
      );
    }
  }
});
