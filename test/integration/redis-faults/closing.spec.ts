import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { LockClientClosedError, LockLostError } from '../../../lib/core/errors/index.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { isSettled } from '../../support/is-settled.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';

const TIMEOUT = 300;

describe.each(['of ours', 'of the user'])('close(), on a connection %s', (whose) => {
  let server: RedisServer;
  let proxy: RedisProxy;
  let locks: RedisLockClient;
  let key: string;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    key = randomUUID();
    await server.command('FLUSHALL');
    proxy = await RedisProxy.start(server);
    const { host, port } = proxy;
    const options =
      whose === 'of ours' ? { connect: { host, port } } : { client: server.client({ port }) };
    locks = await createRedisLockClient('closing', options);
    await locks.connect();
  });
  afterEach(() => proxy.stop());

  /** How long it takes. */
  async function close(): Promise<number> {
    const start = performance.now();
    await locks.close(TIMEOUT);
    return performance.now() - start;
  }

  it('ends in its timeout when the server hangs, with a lock held and one waited for', async () => {
    const lease = await locks.mutex(key).acquire();
    const { signal } = lease;
    const queued = locks.mutex(key).acquire();
    const refused = expect(queued).rejects.toThrow(LockClientClosedError);
    proxy.hold();
    const took = await close();
    expect(took).toBeGreaterThan(TIMEOUT - 5);
    expect(took).toBeLessThan(TIMEOUT + 2_000);
    expect(lease.isHeld).toBe(false);
    expect(signal.reason).toBeInstanceOf(LockLostError);
    await refused;
  });

  it('ends in its timeout when the server hangs in the middle of an acquire', async () => {
    proxy.hold();
    const refused = expect(locks.mutex(key).acquire()).rejects.toThrow(LockClientClosedError);
    await eventually('it is on its way', () => proxy.commands.some((c) => c.includes(key)));
    expect(await close()).toBeLessThan(TIMEOUT + 2_000);
    await refused;
  });

  it('waits for the release of a lock that was being acquired', async () => {
    await locks.mutex(`${key} before`).using(() => {}); // the server knows the script
    proxy.holdReplies();
    const refused = expect(locks.mutex(key).acquire()).rejects.toThrow(LockClientClosedError);
    await eventually('it is granted', () => server.command('EXISTS', key));
    const closed = locks.close();
    await refused;
    expect(await isSettled(closed)).toBe(false);
    proxy.resume();
    await closed;
    expect(await server.command('EXISTS', key)).toBe(0);
  });

  it('resolves when all locks are released, and leaves no connection of its own', async () => {
    await locks.mutex(key).acquire();
    await locks.readWriteLock(`${key} too`).readLock().acquire();
    await locks.close();
    expect(await server.command('DBSIZE')).toBe(0);
    const left = whose === 'of ours' ? 0 : 1;
    await eventually('they are closed', () => proxy.open === left);
  });
});
