import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { RedisOptions } from 'ioredis';
import { LockConnectionError } from '../../lib/core/errors/index.js';
import type { ReplicaPolicy } from '../../lib/redis/connection/replicas.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { lockRenew } from '../../lib/redis/scripts/index.js';
import { eventually } from '../support/time.js';
import { useCleanup, useRedis, useRedisSentinel } from '../support/fixtures.js';
import { KEPT, RedisServer, replicated } from '../support/redis-server.js';
import { MovingAddress } from '../support/proxies.js';
import { KINDS as KINDS_OF_HOLDS } from '../faults/support/redis-kinds.js';
import { expectLost, holdAll, lossesOf } from '../faults/support/redis-stage.js';
import { useClients } from './support/clients.js';

/** A lock of each kind for which a grant waits for replicas. */
const LOCKS = {
  mutex: (client: RedisLockClient, key: string) => client.mutex(key),
  'fenced mutex': (client: RedisLockClient, key: string) => client.mutex(key, { fenced: true }),
  'fair mutex': (client: RedisLockClient, key: string) => client.mutex(key, { fair: true }),
  'read lock': (client: RedisLockClient, key: string) => client.readWriteLock(key).readLock(),
  'write lock': (client: RedisLockClient, key: string) => client.readWriteLock(key).writeLock(),
};
const KINDS = Object.keys(LOCKS) as (keyof typeof LOCKS)[];

describe('A grant that has to be on replicas', () => {
  const sentinel = useRedisSentinel({ downAfter: 60_000 }); // no failover: the replica is frozen
  const { connected } = useClients();
  let tests = 0;
  let key = '';

  beforeEach(() => {
    key = `key-${++tests}`;
  });

  const connect = (replicas?: ReplicaPolicy) =>
    connected({ client: sentinel().client(), replicas });

  it.each(KINDS)('is there while it is held: %s', async (kind) => {
    const client = await connect({ atLeast: 1 });
    const replica = await sentinel().replica();
    await LOCKS[kind](client, key).using(async (lease) => {
      expect(lease.isHeld).toBe(true);
      expect(await replica.command('EXISTS', key)).toBe(1);
    });
  });

  it.each(KINDS)('is released when it is on too few: %s', async (kind) => {
    const client = await connect({ atLeast: 2, timeout: 50 });
    const lock = LOCKS[kind](client, key);
    await expect(lock.acquire()).rejects.toBeInstanceOf(LockConnectionError);
    await expect(lock.tryAcquire()).rejects.toThrow('acknowledged by 1 of 2 replicas');
    await nothingLeft();
  });

  it('is released when the replica does not answer, and granted when it does again', async () => {
    const client = await connect({ atLeast: 1, timeout: 100 });
    const replica = await sentinel().replica();
    replica.freeze();
    try {
      await expect(client.mutex(key).acquire()).rejects.toThrow('acknowledged by 0 of 1 replicas');
      await nothingLeft();
    } finally {
      replica.thaw();
    }
    await eventually('it is granted again', () => client.mutex(key).using(() => true, {}));
  });

  it('waits for them in common with others, so that held locks are renewed meanwhile', async () => {
    const client = await connected({
      client: sentinel().client(),
      watchdogTimeout: WATCHDOG_TIMEOUT,
      replicas: { atLeast: 1, timeout: WATCHDOG_TIMEOUT / 6 },
    });
    const [master, replica] = [await sentinel().master(), await sentinel().replica()];
    await using held = await client.mutex(key).acquire();
    await master.command('CONFIG', 'RESETSTAT');
    replica.freeze();
    try {
      const others = Array.from({ length: 12 }, (_, i) => client.mutex(`${key}-${i}`).acquire());
      for (const other of others)
        await expect(other).rejects.toThrow('acknowledged by 0 of 1 replicas');
    } finally {
      replica.thaw();
    }
    expect([held.isHeld, held.signal.aborted]).toEqual([true, false]);
    const stats = String(await master.command('INFO', 'commandstats'));
    expect(Number(/cmdstat_wait:calls=(\d+)/.exec(stats)?.[1])).toBeLessThan(6);
  });

  it('wakes a waiter when it is released', async () => {
    const [careful, easy] = [await connect({ atLeast: 2, timeout: 200 }), await connect()];
    const failing = careful.mutex(key).acquire();
    await eventually('it is on the server', async () =>
      (await sentinel().master()).command('EXISTS', key),
    );
    const waiting = easy.mutex(key).acquire({ wait: 10_000 });
    await expect(failing).rejects.toBeInstanceOf(LockConnectionError);
    await using lease = await waiting;
    expect(lease.isHeld).toBe(true);
  });

  it('is held all the same, with a warning, where that is configured', async () => {
    const client = await connect({ atLeast: 2, timeout: 50, otherwise: 'warn' });
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    try {
      await using lease = await client.mutex(key).acquire();
      expect(lease.isHeld).toBe(true);
      expect(warn).toHaveBeenCalledWith(
        expect.stringMatching(new RegExp(`"${key}".* acknowledged by 1 of 2 replicas`)),
      );
    } finally {
      warn.mockRestore();
    }
  });

  it('is not checked where no policy requires it', async () => {
    const master = await sentinel().master();
    const client = await connect();
    await master.command('CONFIG', 'RESETSTAT');
    await client.mutex(key).using(() => {});
    expect(await master.command('INFO', 'commandstats')).not.toContain('cmdstat_wait:');
  });

  /** Except for the token counter. */
  async function nothingLeft(): Promise<void> {
    const master = await sentinel().master();
    await eventually('nothing is left', async () => {
      const keys = (await master.command('KEYS', `*${key}*`)) as string[];
      return keys.every((name) => KEPT.test(name));
    });
  }
});

describe('The replicas policy', () => {
  const server = useRedis();
  const { connected } = useClients();
  let careful: RedisLockClient;

  beforeEach(async () => {
    careful = await connected({ connect: server().url, replicas: { atLeast: 1 } });
    await server().command('CONFIG', 'RESETSTAT');
  });

  it('sends no WAIT for a lock that was not granted, as other commands would wait for the answer', async () => {
    const holder = await connected({ connect: server().url });
    await holder.mutex('seats').acquire();
    expect(await careful.mutex('seats').tryAcquire()).toBeUndefined();
    expect(await server().command('INFO', 'commandstats')).not.toContain('cmdstat_wait:');
  });

  it('adds no listener to the client per acquire, which Node would report as a leak', async () => {
    const client = server().client();
    const replicas = { atLeast: 1, timeout: 10, otherwise: 'warn' } as const;
    const locks = await connected({ client, replicas });
    const before = client.listenerCount('close');
    const keys = Array.from({ length: 20 }, (_, i) => `row-${i}`);
    const acquiring = Promise.all(keys.map((key) => locks.mutex(key).acquire()));
    await client.ping(); // the commands were sent
    expect(client.listenerCount('close')).toBe(before);
    await acquiring;
  });

  it('sends WAIT for a lock that was granted', async () => {
    await expect(careful.mutex('aisle').tryAcquire()).rejects.toThrow('0 of 1 replicas');
    expect(await server().command('INFO', 'commandstats')).toContain('cmdstat_wait:');
  });
});

/** Renewals come every third of it, in ms. */
const WATCHDOG_TIMEOUT = 3_000;

describe('A primary that is demoted and keeps its connections, as in a managed Redis,', () => {
  const { made } = useClients('app');
  const cleanup = useCleanup();
  let first: RedisServer;
  let second: RedisServer;
  let address: MovingAddress;
  let client: RedisLockClient;
  let states: string[];

  beforeEach(async () => {
    const servers = await Promise.all([RedisServer.start(), RedisServer.start()]);
    [first, second] = servers.map((server) =>
      cleanup(server, () => server.stop()),
    ) as typeof servers;
    await second.command('REPLICAOF', first.host, first.port);
    await eventually('it replicates', async () => {
      const role = await second.role();
      return role.name === 'replica' && role.isLinked;
    });
    address = cleanup(await MovingAddress.of(first), (moving) => moving.stop());
  });

  async function connect(options: RedisLockOptions): Promise<void> {
    states = [];
    client = await made({ watchdogTimeout: WATCHDOG_TIMEOUT, ...options });
    client.on('connection', ({ state }) => void states.push(state));
    await client.connect();
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
      await connect(options());
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

  it.each(['ioredis', 'node-redis'] as const)(
    'keeps no client of %s from noticing that the other server has forgotten a lease that is not renewed',
    async (driver) => {
      const socket = { host: address.host, port: address.port };
      await connect(driver === 'ioredis' ? { connect: socket } : { driver, connect: { socket } });
      const held = await holdAll(KINDS_OF_HOLDS, client, 'held', { lease: 600_000 });
      const losses = lossesOf(held);
      await second.command('REPLICAOF', 'NO', 'ONE');
      await second.command('FLUSHALL');
      address.moveTo(second);
      await first.command('REPLICAOF', '127.0.0.1', 1); // it has what it had, and its connections
      await losses;
      expectLost(held, 'forgotten');
    },
  );

  it('confirms no hold, whatever is left of its lease', async () => {
    await connect(users['an address']!());
    const held = await holdAll(KINDS_OF_HOLDS, client, 'held', { lease: 600_000 });
    await first.command('REPLICAOF', '127.0.0.1', 1);
    const redis = cleanup(first.client(), (each) => each.disconnect());
    for (const { name, lease } of held)
      for (const length of [0, 1_000]) {
        const { keys, field, kind } = lease.hold.backend;
        const asked = redis.eval(lockRenew.source, 2, ...keys, field, length, kind, 0, 0);
        const answer = await asked.catch(String);
        expect([name, answer]).toEqual([name, expect.stringContaining('READONLY')]);
      }
  });

  it('may end a wait for replicas, and the acquire goes on', async () => {
    await connect({ ...users['an address']!(), replicas: { atLeast: 1, timeout: 10_000 } });
    second.freeze();
    const acquiring = client.mutex('wanted').acquire({ wait: 20_000 });
    await eventually('it waits for the replica', async () =>
      String(await first.command('INFO', 'clients')).includes('blocked_clients:1'),
    );
    await first.command('REPLICAOF', '127.0.0.1', 1);
    await first.command('REPLICAOF', 'NO', 'ONE');
    second.thaw();
    await using lease = await acquiring;
    expect(lease.isHeld).toBe(true);
  });

  it('is looked up again and again while its address is slow to move, and is reported once', async () => {
    await connect(users['an address']!());
    await promote();
    const before = address.connections;
    const waiting = client.mutex('wanted').acquire();
    await eventually('the refusal is reported', () => client.status().state === 'REFUSED');
    expect(client.status().health).toBe('degraded');
    await eventually('it was looked for twice', () => address.connections >= before + 2);
    expect(states).toEqual(['CONNECTED', 'SUSPENDED', 'RECONNECTED', 'REFUSED']);
    address.moveTo(second);
    await (await waiting).release();
    await eventually('it is over', () => client.status().health === 'up');
    expect(states.at(-1)).toBe('CONNECTED');
  });
});
