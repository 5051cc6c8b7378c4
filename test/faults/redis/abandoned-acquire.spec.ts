import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockLostError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import {
  fairLockRelease,
  lockRelease,
  readLockRelease,
  writeLockRelease,
} from '../../../lib/redis/scripts/index.js';
import { eventually, isSettled } from '../../support/time.js';
import {
  EXCLUSIVE_LOCKS,
  expiryOf,
  type Holdable,
  holdersOf,
  type Kind,
  LOCKS,
  locksLeft,
  onlyHolder,
} from '../support/redis-kinds.js';
import { expectHeld, holdAll, releaseAll, useRedisStage } from '../support/redis-stage.js';

const RELEASES = [lockRelease, fairLockRelease, readLockRelease, writeLockRelease];

const stage = useRedisStage();

const wasSent = () => stage.proxy.commands.some((command) => command.includes(stage.key));
const isGranted = () => stage.server.command('EXISTS', stage.key);

describe('An acquire that is aborted', () => {
  let locks: RedisLockClient;

  beforeEach(async () => void (locks = await stage.far()));

  /** Acquires, and aborts that when `when` holds; then lets everything through, and waits until all was answered. */
  async function abort(lock: Holdable, what: string, when: () => unknown): Promise<void> {
    const controller = new AbortController();
    const acquired = lock.acquire({ signal: controller.signal });
    const aborted = expect(acquired).rejects.toThrow(LockAbortedError);
    await eventually(what, when);
    controller.abort();
    await aborted;
    stage.proxy.resume();
    await locks.close();
  }

  /** The lock of this test, of which the server knows the scripts. */
  async function known({ of }: Kind): Promise<Holdable> {
    await of(locks, `${stage.key} before`).using(() => {});
    return of(locks, stage.key);
  }

  describe.each([
    ['before it reaches the server', () => stage.proxy.hold(), wasSent],
    ['before its grant arrives', () => stage.proxy.holdReplies(), isGranted],
  ])('%s', (_, strike, when) => {
    it.each(LOCKS)('leaves no $name', async (kind) => {
      const lock = await known(kind);
      strike();
      await abort(lock, 'it is there', when);
      expect(await locksLeft(stage.server)).toEqual([]);
    });
  });

  it.each(LOCKS)('when its grant is lost leaves no $name', async (kind) => {
    const lock = await known(kind);
    const loss = stage.proxy.loseReply((command) => command.includes(stage.key));
    await abort(lock, 'the grant is lost', () => {
      if (loss.lost > 0) loss.stop();
      return loss.lost;
    });
    expect(await locksLeft(stage.server)).toEqual([]);
  });

  it.each(LOCKS)(
    'before the server reports that it lacks the script leaves no $name',
    async ({ of }) => {
      const { server, proxy } = stage;
      await server.command('SCRIPT', 'FLUSH');
      for (const { source } of RELEASES) await server.command('SCRIPT', 'LOAD', source);
      proxy.holdReplies();
      await abort(of(locks, stage.key), 'it is on its way', wasSent);
      expect(proxy.commands.some(([name]) => name === 'eval')).toBe(true);
      expect(await locksLeft(server)).toEqual([]);
    },
  );

  it.each(EXCLUSIVE_LOCKS)(
    'while it waits for a $name leaves nothing in a queue',
    async ({ of }) => {
      const { key, server } = stage;
      const lease = await of(await stage.near(), key).acquire();
      const held = await locksLeft(server);
      let isContended = false;
      locks.on('contended', () => (isContended = true));
      await abort(of(locks, key), 'it waits', () => isContended);
      expect(await locksLeft(server)).toEqual(held);
      await lease.release();
      expect(await locksLeft(server)).toEqual([]);
    },
  );

  it('while a preferred writer waits, lets readers in again', async () => {
    const { key, server } = stage;
    const room = (await stage.near()).readWriteLock(key, { preferWriters: true });
    const lease = await room.readLock().acquire();
    const held = await locksLeft(server);
    const writer = locks.readWriteLock(key, { preferWriters: true }).writeLock();
    await abort(writer, 'it waits', async () => (await locksLeft(server)).length > held.length);
    expect(await room.readLock().tryAcquire()).toMatchObject({ isHeld: true });
    expect(lease.isHeld).toBe(true);
  });
});

describe('A grant that comes late', () => {
  const LEASE = 1_000;
  let locks: RedisLockClient;

  beforeEach(async () => void (locks = await stage.far({ watchdogTimeout: LEASE })));

  /** Locks of all these kinds are being acquired, and are granted, but no answer comes. */
  async function grantedInSilence(kinds: readonly Kind[]) {
    const { key, server, proxy } = stage;
    await releaseAll(await holdAll(kinds, locks, `${key} before`)); // the server knows the scripts
    proxy.holdReplies();
    const acquired = holdAll(kinds, locks, key, { lease: LEASE });
    const keys = kinds.map(({ name }) => `${key} ${name}`);
    await eventually('all are granted', async () => {
      return (await server.command('EXISTS', ...keys)) === keys.length;
    });
    return { acquired, keys };
  }

  const timeToLive = async (key: string) => Number(await stage.server.command('PTTL', key));

  it('when its lease is almost over is a fresh one, whatever the kind of lock', async () => {
    const { acquired, keys } = await grantedInSilence(LOCKS);
    await eventually('most of each lease is over', async () => {
      const left = await Promise.all(keys.map(timeToLive));
      return Math.max(...left) < LEASE / 4;
    });
    expect(await isSettled(acquired)).toBe(false);
    stage.proxy.resume();

    const granted = await acquired;
    const remaining = granted.map(({ name, lease }) => [name, lease.remaining() > LEASE / 4]);
    const left = await Promise.all(keys.map(timeToLive));
    expect(remaining).toEqual(granted.map(({ name }) => [name, true]));
    expect(Math.min(...left)).toBeGreaterThan(LEASE / 4);
    for (const { name, key, lease } of granted) {
      await lease.release();
      expect([name, await stage.server.command('EXISTS', key)]).toEqual([name, 0]);
    }
  });

  it('when another client has the lock is not handed out, whatever its kind', async () => {
    const { acquired, keys } = await grantedInSilence(EXCLUSIVE_LOCKS);
    const theirs = await holdAll(EXCLUSIVE_LOCKS, await stage.near(), stage.key);
    const contended = new Set<string>();
    locks.on('contended', ({ key }) => void contended.add(key));
    stage.proxy.resume();
    await eventually('all wait', () => contended.size === keys.length);
    expect(await isSettled(acquired)).toBe(false);
    for (const { key, lease } of theirs)
      expect(await holdersOf(stage.server, key)).toEqual(onlyHolder(lease));

    await releaseAll(theirs);
    expectHeld(await acquired);
  });

  it('when the wait is over is released', async () => {
    const { key, proxy } = stage;
    await locks.mutex(`${key} before`).using(() => {});
    proxy.holdReplies();
    const acquired = locks.mutex(key).acquire({ wait: 100 });
    await expect(acquired).rejects.toThrow(LockTimeoutError);
    expect(await timeToLive(key)).toBeGreaterThan(0);
    const expiry = await expiryOf(stage.server, key);
    proxy.resume();
    await eventually('it is free', async () => (await timeToLive(key)) === -2);
    expect(Date.now()).toBeLessThan(expiry);
  });
});

describe.each(['of ours', 'of the user'])('close(), on a connection %s', (whose) => {
  const TIMEOUT = 300;
  let locks: RedisLockClient;

  beforeEach(async () => {
    const { host, port } = stage.proxy;
    locks = await stage.clients.with(
      whose === 'of ours' ? { connect: { host, port } } : { client: stage.client({ port }) },
    );
  });

  /** How long it takes. */
  async function close(): Promise<number> {
    const start = performance.now();
    await locks.close(TIMEOUT);
    return performance.now() - start;
  }

  it('ends in its timeout when the server hangs, with a lock held and one waited for', async () => {
    const lease = await locks.mutex(stage.key).acquire();
    const { signal } = lease;
    const queued = locks.mutex(stage.key).acquire();
    const refused = expect(queued).rejects.toThrow(LockClientClosedError);
    stage.proxy.hold();
    const took = await close();
    expect(took).toBeGreaterThan(TIMEOUT - 5);
    expect(took).toBeLessThan(TIMEOUT + 2_000);
    expect(lease.isHeld).toBe(false);
    expect(signal.reason).toBeInstanceOf(LockLostError);
    await refused;
  });

  it('ends in its timeout when the server hangs in the middle of an acquire', async () => {
    stage.proxy.hold();
    const acquired = locks.mutex(stage.key).acquire();
    const refused = expect(acquired).rejects.toThrow(LockClientClosedError);
    await eventually('it is on its way', wasSent);
    expect(await close()).toBeLessThan(TIMEOUT + 2_000);
    await refused;
  });

  it('waits for the release of a lock that was being acquired', async () => {
    await locks.mutex(`${stage.key} before`).using(() => {}); // the server knows the script
    stage.proxy.holdReplies();
    const acquired = locks.mutex(stage.key).acquire();
    const refused = expect(acquired).rejects.toThrow(LockClientClosedError);
    await eventually('it is granted', isGranted);
    const closed = locks.close();
    await refused;
    expect(await isSettled(closed)).toBe(false);
    stage.proxy.resume();
    await closed;
    expect(await isGranted()).toBe(0);
  });

  it('resolves when all locks are released, and leaves no connection of its own', async () => {
    await locks.mutex(stage.key).acquire();
    await locks.readWriteLock(`${stage.key} too`).readLock().acquire();
    await locks.close();
    expect(await stage.server.command('DBSIZE')).toBe(0);
    const left = whose === 'of ours' ? 0 : 1;
    await eventually('they are closed', () => stage.proxy.open === left);
  });
});
