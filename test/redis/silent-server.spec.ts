import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { LockConnectionError } from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { useRedis } from '../support/fixtures.js';
import { useClients } from './support/clients.js';

jest.setTimeout(60_000);

const server = useRedis();
const { connected } = useClients('patient');

/** In ms: time enough on a busy machine to connect, and for an answer. */
const PATIENCE = 3_000;

/** The lease is far longer than the test, so that its end is not what ends a call. */
const mine = () =>
  connected({ connect: server().url, connectTimeout: PATIENCE, watchdogTimeout: 600_000 });

const QUESTIONS: Record<string, (client: RedisLockClient) => Promise<unknown>> = {
  'holders of a mutex': (client) => client.mutex('mutex').holders(),
  'isLocked of a mutex': (client) => client.mutex('mutex').isLocked(),
  'remainTimeToLive of a mutex': (client) => client.mutex('mutex').remainTimeToLive(),
  'holders of a read/write lock': (client) => client.readWriteLock('read/write').holders(),
  'availablePermits of a semaphore': (client) => client.semaphore('permits').availablePermits(),
  'acquiredPermits of a semaphore': (client) => client.semaphore('permits').acquiredPermits(),
  'getPermits of a semaphore': (client) => client.semaphore('permits').getPermits(),
  'getLeaseTime of a permit': (client) => client.semaphore('permits').getLeaseTime('0'.repeat(32)),
  'availablePermits of a plain semaphore': (client) =>
    client.plainSemaphore('plain').availablePermits(),
  'getCount of a latch': (client) => client.countDownLatch('latch').getCount(),
  'participants of an election': (client) => client.leaderLatch('election').participants(),
};

describe('When the server does not answer for the connectTimeout', () => {
  afterEach(() => server().thaw());

  it('all questions reject', async () => {
    const client = await mine();
    const askAll = () =>
      Object.entries(QUESTIONS).map(([name, ask]) => [name, ask(client)] as const);
    server().freeze();
    const asked = askAll();
    const errors = await Promise.all(
      asked.map(([, answer]) => answer.catch((error: unknown) => error)),
    );
    for (const [i, [name]] of asked.entries())
      expect([name, errors[i]]).toEqual([
        name,
        expect.objectContaining({
          constructor: LockConnectionError,
          client: 'patient',
          message: expect.stringContaining(`within ${PATIENCE} ms`),
        }),
      ]);
    server().thaw();
    await Promise.all(askAll().map(([, answer]) => answer));
  });

  it('the fencing token of a held lease rejects, and can be requested again', async () => {
    const lease = await (await mine()).mutex('token').acquire();
    server().freeze();
    await expect(lease.fencingToken()).rejects.toBeInstanceOf(LockConnectionError);
    expect(lease.isHeld).toBe(true);
    server().thaw();
    expect(await lease.fencingToken()).toBeGreaterThan(0n);
  });

  it('extend rejects, and the lease counts as held for the shorter of both times', async () => {
    const lease = await (await mine()).mutex('extend').acquire({ lease: 60_000 });
    server().freeze();
    await expect(lease.extend(600_000)).rejects.toBeInstanceOf(LockConnectionError);
    expect(lease.remaining()).toBeLessThanOrEqual(60_000);
    await expect(lease.extend(30_000)).rejects.toBeInstanceOf(LockConnectionError);
    expect(lease.remaining()).toBeLessThanOrEqual(30_000);
    server().thaw();
    await lease.extend(600_000);
    expect(lease.remaining()).toBeGreaterThan(60_000);
  });
});
