import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockConnectionError } from '../../lib/core/errors/index.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { RedisServer } from '../support/redis-server.js';

const CONNECT_TIMEOUT = 800;
/** Far more than the bound, and far less than the time after which ioredis gives up a command. */
const PATIENCE = 15_000;

const SOURCES: readonly [string, (server: RedisServer) => RedisLockOptions][] = [
  ['a client of its own', ({ host, port }) => ({ connect: { host, port, ...AT_ONCE } })],
  [
    'a client of its own that never gives up',
    ({ host, port }) => ({ connect: { host, port, maxRetriesPerRequest: null, ...AT_ONCE } }),
  ],
  ["a user's client", (server) => ({ client: server.client() })],
  [
    "a user's client that never gives up",
    (server) => ({ client: server.client({ maxRetriesPerRequest: null }) }),
  ],
];

/** Otherwise a client that is disconnected without a connection keeps the process alive for two seconds. */
const AT_ONCE = { disconnectTimeout: 0 };

describe.each(SOURCES)('A change that counts once, by %s,', (_, source) => {
  let server: RedisServer;
  let locks: RedisLockClient;

  beforeEach(async () => {
    server = await RedisServer.start();
    locks = await createRedisLockClient('test', {
      ...source(server),
      connectTimeout: CONNECT_TIMEOUT,
    });
    await locks.connect();
  });
  afterEach(async () => {
    await locks.close();
    await server.stop();
  });

  it('rejects soon when there is no server, and reports that its outcome is unknown', async () => {
    await server.kill();
    const changes = [
      locks.plainSemaphore('plain').release(),
      locks.plainSemaphore('plain').drainPermits(),
      locks.countDownLatch('latch').countDown(),
      locks.semaphore('permits').addPermits(2),
    ];
    for (const error of await Promise.all(changes.map(failure))) {
      expect(error).toBeInstanceOf(LockConnectionError);
      expect(error).toMatchObject({ message: expect.stringMatching(/unknown/i) });
    }
  });

  /** The error that it rejects with; something else where it resolves, or takes long. */
  function failure(change: Promise<unknown>): Promise<unknown> {
    const late = new Promise((resolve) => {
      setTimeout(() => resolve(`not within ${PATIENCE} ms`), PATIENCE).unref();
    });
    return Promise.race([
      change.then(
        (answer) => ({ answer }),
        (error: unknown) => error,
      ),
      late,
    ]);
  }
});

describe('A release that fails after the work under a plain semaphore', () => {
  let server: RedisServer;
  let locks: RedisLockClient;

  beforeEach(async () => {
    server = await RedisServer.start();
    const { host, port } = server;
    locks = await createRedisLockClient('test', {
      connect: { host, port, maxRetriesPerRequest: 1, ...AT_ONCE },
      connectTimeout: CONNECT_TIMEOUT,
    });
    await locks.connect();
    await locks.plainSemaphore('plain').trySetPermits(1);
  });
  afterEach(async () => {
    await locks.close();
    await server.stop();
  });

  it('leaves the result alone', async () => {
    const used = locks.plainSemaphore('plain').using(async () => {
      await server.kill();
      return 'result';
    });
    expect(await used).toBe('result');
  });

  it('leaves the error alone', async () => {
    const mine = new Error('of the work');
    const used = locks.plainSemaphore('plain').using(async () => {
      await server.kill();
      throw mine;
    });
    await expect(used).rejects.toBe(mine);
  });
});
