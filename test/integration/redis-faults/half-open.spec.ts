import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { LockLostError } from '../../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { lockRenew } from '../../../lib/redis/scripts/index.js';
import { eventually } from '../../support/eventually.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';
import { lossOf } from '../support/loss-of.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import { ALL_LOCKS } from '../support/redis-lock-kinds.js';

const LEASE = 3_000;
/** A third of it, and a hundredth: more than a busy machine takes for five new connections, and for one turn. */
const LONG_LEASE = 6_000;

const isRenewal = ([, sha1]: readonly string[]) => sha1 === lockRenew.sha1;

describe('When the connection of a holder', () => {
  const clients = new RedisLockClients();
  let server: RedisServer;
  let proxy: RedisProxy;
  let holder: RedisLockClient;
  let key: string;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    key = randomUUID();
    proxy = await RedisProxy.start(server);
    holder = await connect(LEASE);
  });
  afterEach(async () => {
    proxy.resume();
    await clients.close();
    await proxy.stop();
  });

  function connect(watchdogTimeout: number): Promise<RedisLockClient> {
    const redis = server.client({
      port: proxy.port,
      retryStrategy: () => 5,
      maxRetriesPerRequest: 0, // what was not answered is not sent again by the client
    });
    return clients.on(redis, { watchdogTimeout });
  }

  /** When the lock would be free, in ms since 1970. */
  const expiry = async (name = key) => Number(await server.command('PEXPIRETIME', name));

  it.each(ALL_LOCKS)(
    'stalls in a renewal of a %s, it is held if that comes through',
    async (_, of) => {
      const lease = await of(holder, key).acquire();
      const first = await expiry();
      proxy.hold();
      await eventually('a renewal is on its way', () => proxy.commands.some(isRenewal));
      expect(await expiry()).toBe(first);
      proxy.resume();

      await eventually('the first lease would be over', () => Date.now() > first);
      expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
      expect(await expiry()).toBeGreaterThan(first);
    },
  );

  /** Waits for a renewal; resolves to the time of the new expiry. */
  function renewedAfter(earlier: number): Promise<number> {
    return eventually('it is renewed', async () => {
      const now = await expiry();
      return now > earlier && now;
    });
  }

  it('stalls, its locks are lost before they are free', async () => {
    const keys = ALL_LOCKS.map(([name]) => `${key} ${name}`);
    const locks = await connect(LONG_LEASE);
    const leases = await Promise.all(ALL_LOCKS.map(([, of], n) => of(locks, keys[n]!).acquire()));
    const losses = Promise.all(leases.map(lossOf));
    proxy.hold();
    const ends = await Promise.all(keys.map((name) => expiry(name)));
    for (const [n, lostAt] of (await losses).entries()) expect(lostAt).toBeLessThan(ends[n]!);
    for (const lease of leases) {
      expect(lease.isHeld).toBe(false);
      expect(lease.signal.reason).toBeInstanceOf(LockLostError);
      expect(() => lease.assertHeld()).toThrow('could not be renewed in time');
    }
    const other = await clients.on(server.client());
    for (const [n, [, of]] of ALL_LOCKS.entries())
      expect(await of(other, keys[n]!).acquire()).toMatchObject({ isHeld: true });
  });

  it('brings the answer to a renewal late, the lease counts from when that was sent', async () => {
    const lease = await holder.mutex(key).acquire();
    const first = await expiry();
    const second = await renewedAfter(first); // the server knows the script
    await eventually('the holder knows', () => Date.now() + lease.remaining() > first);
    proxy.holdReplies();
    const third = await renewedAfter(second);
    await eventually('the answer is late', () => third - Date.now() < (2 / 3) * LEASE);
    const before = Date.now() + lease.remaining();
    proxy.resume();
    const known = await eventually('the answer is here', () => {
      const now = Date.now() + lease.remaining();
      return now > before + 100 && now;
    });
    expect(known).toBeLessThanOrEqual(third);
  });

  it('stalls until a renewal comes too late, that does not revive the lock', async () => {
    const lease = await holder.mutex(key).acquire();
    const lost = lossOf(lease);
    proxy.hold();
    await lost;
    const last = await expiry();
    await eventually('it is free', () => Date.now() > last);
    const other = await clients.on(server.client());
    const next = await other.mutex(key).acquire();
    proxy.resume();
    await holder.mutex('answered').using(() => {});

    expect([lease.isHeld, next.isHeld]).toEqual([false, true]);
    expect(await server.command('HEXISTS', key, next.holder)).toBe(1);
  });

  it('is cut in its renewals, they are sent again within the lease', async () => {
    const patient = await connect(LONG_LEASE);
    const lease = await patient.mutex(key).acquire();
    const first = await expiry();
    const loss = proxy.loseReply((command) => isRenewal(command) && loss.lost < 5);
    await eventually('five answers are lost', () => loss.lost === 5);
    await eventually('the lease would be over', () => Date.now() > first);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    expect(await expiry()).toBeGreaterThan(first);
  });
});
