import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { RedisOptions } from 'ioredis';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { eventually } from '../support/eventually.js';
import { MovingAddress } from '../support/moving-address.js';
import { RedisServer } from '../support/redis-server.js';
import { replicated } from '../support/replicated.js';

/** Renewals come every third of it, in ms. */
const WATCHDOG_TIMEOUT = 3_000;

describe('A primary that is demoted and keeps its connections, as in a managed Redis,', () => {
  let first: RedisServer;
  let second: RedisServer;
  let address: MovingAddress;
  let client: RedisLockClient;
  let states: string[];

  beforeEach(async () => {
    [first, second] = [await RedisServer.start(), await RedisServer.start()];
    await second.command('REPLICAOF', first.host, first.port);
    await eventually('it replicates', async () => {
      const role = await second.role();
      return role.name === 'replica' && role.isLinked;
    });
    address = await MovingAddress.of(first);
  });
  afterEach(async () => {
    await client.close();
    await address.stop();
    await Promise.all([first.stop(), second.stop()]);
  });

  async function connected(options: RedisLockOptions): Promise<RedisLockClient> {
    states = [];
    client = await createRedisLockClient('app', { watchdogTimeout: WATCHDOG_TIMEOUT, ...options });
    client.on('connection', ({ state }) => void states.push(state));
    await client.connect();
    return client;
  }

  /** Makes the replica the primary, with all that was written. */
  async function promote(): Promise<void> {
    await replicated(first, [second]);
    await second.command('REPLICAOF', 'NO', 'ONE');
    await first.command('REPLICAOF', second.host, second.port);
  }

  const users: Record<string, () => RedisLockOptions> = {
    'an address': () => ({ connect: { host: address.host, port: address.port } }),
    "a user's client": () => ({ client: first.client(template()) }),
    "a user's client that has its own mind about errors": () => ({
      client: first.client(template({ reconnectOnError: () => false })),
    }),
  };
  const template = (options: RedisOptions = {}) => ({
    host: address.host,
    port: address.port,
    ...options,
  });

  it.each(Object.entries(users))(
    'is left by a client of %s, which loses nothing',
    async (_, options) => {
      await connected(options());
      const losses: unknown[] = [];
      client.on('lost', (loss) => void losses.push(loss));
      const lease = await client.mutex('held').acquire();
      await promote();
      address.moveTo(second);

      const next = await client.mutex('wanted').acquire({ wait: 20_000 });
      expect(await second.command('EXISTS', 'wanted')).toBe(1);
      const endsAt = Number(await second.command('PEXPIRETIME', 'held'));
      await eventually('the lease is renewed on the other server', async () => {
        return Number(await second.command('PEXPIRETIME', 'held')) > endsAt;
      });
      await Promise.all([lease.release(), next.release()]);
      expect(await second.command('EXISTS', 'held', 'wanted')).toBe(0);
      expect([losses, client.status().health]).toEqual([[], 'up']);
      expect(states).toEqual(['CONNECTED', 'SUSPENDED', 'RECONNECTED']);
    },
  );

  it('is looked up again and again while its address is slow to move, and is reported once', async () => {
    await connected(users['an address']!());
    await promote();
    const before = address.connections;
    const waiting = client.mutex('wanted').acquire();
    await eventually('the refusal is reported', () => client.status().state === 'REFUSED');
    expect(client.status().health).toBe('degraded');
    await eventually('it was looked for three times', () => address.connections >= before + 3);
    expect(states).toEqual(['CONNECTED', 'SUSPENDED', 'RECONNECTED', 'REFUSED']);
    address.moveTo(second);
    await (await waiting).release();
    await eventually('it is over', () => client.status().health === 'up');
    expect(states.at(-1)).toBe('CONNECTED');
  });
});
