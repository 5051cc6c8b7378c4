import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { LockAbortedError } from '../../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import {
  fairLockRelease,
  lockRelease,
  readLockRelease,
  writeLockRelease,
} from '../../../lib/redis/scripts/index.js';
import { eventually } from '../../support/eventually.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';
import { locksLeft } from '../support/locks-left.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import { ALL_LOCKS, EXCLUSIVE_LOCKS, type AnyRedisLock } from '../support/redis-lock-kinds.js';

const RELEASES = [lockRelease, fairLockRelease, readLockRelease, writeLockRelease];

describe('An acquire that is aborted', () => {
  const clients = new RedisLockClients();
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
    locks = await clients.on(server.client({ port: proxy.port, retryStrategy: () => 5 }));
  });
  afterEach(async () => {
    proxy.resume();
    await clients.close();
    await proxy.stop();
  });

  /** Acquires, and aborts that when `when` holds; then lets everything through, and waits until all was answered. */
  async function abort(lock: AnyRedisLock, what: string, when: () => unknown): Promise<void> {
    const controller = new AbortController();
    const acquired = lock.acquire({ signal: controller.signal });
    const aborted = expect(acquired).rejects.toThrow(LockAbortedError);
    await eventually(what, when);
    controller.abort();
    await aborted;
    proxy.resume();
    await locks.close();
  }

  const wasSent = () => proxy.commands.some((command) => command.includes(key));
  const isGranted = () => server.command('EXISTS', key);
  /** The server knows the scripts of that lock. */
  const loaded = (lock: AnyRedisLock) => lock.using(() => {});

  it.each(ALL_LOCKS)('before it reaches the server leaves no %s', async (_, of) => {
    await loaded(of(locks, `${key} before`));
    proxy.hold();
    await abort(of(locks, key), 'it is on its way', wasSent);
    expect(await locksLeft(server)).toEqual([]);
  });

  it.each(ALL_LOCKS)('before its grant arrives leaves no %s', async (_, of) => {
    await loaded(of(locks, `${key} before`));
    proxy.holdReplies();
    await abort(of(locks, key), 'it is granted', isGranted);
    expect(await locksLeft(server)).toEqual([]);
  });

  it.each(ALL_LOCKS)('when its grant is lost leaves no %s', async (_, of) => {
    await loaded(of(locks, `${key} before`));
    const loss = proxy.loseReply((command) => command.includes(key));
    await abort(of(locks, key), 'the grant is lost', () => {
      if (loss.lost > 0) loss.stop();
      return loss.lost;
    });
    expect(await locksLeft(server)).toEqual([]);
  });

  it.each(ALL_LOCKS)(
    'before the server reports that it lacks the script leaves no %s',
    async (_, of) => {
      await server.command('SCRIPT', 'FLUSH');
      for (const { source } of RELEASES) await server.command('SCRIPT', 'LOAD', source);
      proxy.holdReplies();
      await abort(of(locks, key), 'it is on its way', wasSent);
      expect(proxy.commands.some(([name]) => name === 'eval')).toBe(true);
      expect(await locksLeft(server)).toEqual([]);
    },
  );

  it.each(EXCLUSIVE_LOCKS)('while it waits for a %s leaves nothing in a queue', async (_, of) => {
    const other = await clients.on(server.client());
    const lease = await of(other, key).acquire();
    const held = await locksLeft(server);
    let isContended = false;
    locks.on('contended', () => (isContended = true));
    await abort(of(locks, key), 'it waits', () => isContended);
    expect(await locksLeft(server)).toEqual(held);
    await lease.release();
    expect(await locksLeft(server)).toEqual([]);
  });

  it('while a preferred writer waits, lets readers in again', async () => {
    const other = await clients.on(server.client());
    const room = other.readWriteLock(key, { preferWriters: true });
    const lease = await room.readLock().acquire();
    const held = await locksLeft(server);
    const writer = locks.readWriteLock(key, { preferWriters: true }).writeLock();
    await abort(writer, 'it waits', async () => (await locksLeft(server)).length > held.length);
    expect(await room.readLock().tryAcquire()).toMatchObject({ isHeld: true });
    expect(lease.isHeld).toBe(true);
  });
});
