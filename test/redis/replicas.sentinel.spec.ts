import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { LockConnectionError } from '../../lib/core/errors/index.js';
import type { ReplicaPolicy } from '../../lib/redis/connection/replica-policy.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import { RedisSentinel } from '../support/redis-sentinel.js';
import { KEPT } from '../support/kept-keys.js';

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
  const clients: RedisLockClient[] = [];
  let sentinel: RedisSentinel;
  let tests = 0;
  let key = '';

  beforeAll(async () => {
    sentinel = await RedisSentinel.start({ downAfter: 60_000 }); // no failover: the replica is frozen
  }, 60_000);
  afterAll(() => sentinel.stop());
  beforeEach(() => {
    key = `key-${++tests}`;
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });

  it.each(KINDS)('is there while it is held: %s', async (kind) => {
    const client = await connect({ atLeast: 1 });
    const replica = await sentinel.replica();
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
    const replica = await sentinel.replica();
    replica.freeze();
    try {
      await expect(client.mutex(key).acquire()).rejects.toThrow('acknowledged by 0 of 1 replicas');
      await nothingLeft();
    } finally {
      replica.thaw();
    }
    await eventually('it is granted again', () => client.mutex(key).using(() => true, {}));
  });

  it('wakes a waiter when it is released', async () => {
    const [careful, easy] = [await connect({ atLeast: 2, timeout: 200 }), await connect()];
    const failing = careful.mutex(key).acquire();
    await eventually('it is on the server', async () =>
      (await sentinel.master()).command('EXISTS', key),
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
    const master = await sentinel.master();
    const client = await connect();
    await master.command('CONFIG', 'RESETSTAT');
    await client.mutex(key).using(() => {});
    expect(await master.command('INFO', 'commandstats')).not.toContain('cmdstat_wait:');
  });

  async function connect(replicas?: ReplicaPolicy): Promise<RedisLockClient> {
    const client = await createRedisLockClient('test', { client: sentinel.client(), replicas });
    clients.push(client);
    await client.connect();
    return client;
  }

  /** Except for the token counter. */
  async function nothingLeft(): Promise<void> {
    const master = await sentinel.master();
    await eventually('nothing is left', async () => {
      const keys = (await master.command('KEYS', `*${key}*`)) as string[];
      return keys.every((name) => KEPT.test(name));
    });
  }
});
