import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { lockRenew } from '../../../lib/redis/scripts/index.js';
import { eventually } from '../../support/eventually.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';
import { Program } from '../support/program.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';

const LEASE = 3_000;

/** What a holder reports that has asked for, and was notified of, the end of its leases. */
const TRUTH = { isHeld: false, isRefused: true, isAborted: true, told: [true, true] };

describe('A process', () => {
  const clients = new RedisLockClients();
  const programs: Program[] = [];
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
    proxy = await RedisProxy.start(server);
    locks = await clients.on(server.client(), { watchdogTimeout: LEASE });
  });
  afterEach(async () => {
    await Promise.all(programs.splice(0).map((program) => program.stop()));
    await clients.close();
    await proxy.stop();
  });

  function start(name: string, port: number, ...args: string[]): Program {
    const url = new URL(`../programs/${name}.ts`, import.meta.url);
    const program = new Program(url, [`${port}`, key, `${LEASE}`, ...args]);
    programs.push(program);
    return program;
  }

  /** A process that holds locks, and renews them, by way of the proxy. */
  async function startHolder(): Promise<Program> {
    const holder = start('redis-holder', proxy.port);
    expect(await holder.next()).toBe('held');
    return holder;
  }

  /** The same; it says what it knows when it was frozen. */
  async function startWatchedHolder(): Promise<Program> {
    const holder = await startHolder();
    holder.tell('watch');
    expect(await holder.next()).toBe('watching');
    return holder;
  }

  /** From now on renewals are stuck. */
  async function stall(): Promise<void> {
    proxy.hold();
    const renewals = () => proxy.commands.filter(([, sha1]) => sha1 === lockRenew.sha1).length;
    const before = renewals();
    await eventually('a renewal is on its way', () => renewals() > before);
  }

  /** Takes the lock of a holder that stands still; resolves when the leases that it took later are over, too. */
  async function takeOver(): Promise<RedisLease> {
    const lease = await locks.mutex(key).acquire();
    const others = [`${key} renewed`, `${key} fixed`];
    const areOver = async () => (await server.command('EXISTS', ...others)) === 0;
    await eventually('its other leases are over', areOver);
    return lease;
  }

  it('that was frozen for longer than its lease knows of the loss at once, while another client holds the lock', async () => {
    const holder = await startWatchedHolder();
    holder.freeze();
    const lease = await takeOver();
    holder.thaw();
    expect(await holder.next()).toEqual(TRUTH);
    expect(lease.isHeld).toBe(true);
    expect(await server.command('HEXISTS', key, lease.holder)).toBe(1);
  });

  it('that was frozen while a renewal was on its way knows of the loss at once', async () => {
    const holder = await startWatchedHolder();
    await stall();
    holder.freeze();
    const lease = await takeOver();
    proxy.resume();
    holder.thaw();
    expect(await holder.next()).toEqual(TRUTH);
    expect(lease.isHeld).toBe(true);
  });

  it('that had its event loop blocked for longer than its lease knows of the loss at once', async () => {
    const holder = await startHolder();
    holder.tell('block');
    const lease = await locks.mutex(key).acquire();
    expect(await holder.next()).toEqual(TRUTH);
    expect(lease.isHeld).toBe(true);
  });

  it('that had its event loop blocked while a renewal was on its way knows of the loss at once', async () => {
    const holder = await startHolder();
    await stall();
    holder.tell('block');
    expect(await holder.next()).toEqual(TRUTH);
  });

  it('that is killed frees its locks after one lease', async () => {
    const holder = await startHolder();
    const queued = locks.mutex(key).acquire();
    const contended = new Promise((resolve) => locks.on('contended', resolve));
    await contended;
    await holder.stop();
    const expiry = Number(await server.command('PEXPIRETIME', key));
    expect(expiry).toBeLessThanOrEqual(Date.now() + LEASE);
    await queued;
    expect(Date.now()).toBeGreaterThanOrEqual(expiry);
    expect(Date.now()).toBeLessThan(expiry + 500);
    await eventually('nothing of it is left', async () => {
      const names = (await server.command('KEYS', `*${key}*`)) as string[];
      return names.length === 1; // ours
    });
  });

  it('that is killed while it queues for a fair lock holds up those behind it for one lease', async () => {
    const lock = locks.mutex(key, { fair: true });
    const lease = await lock.acquire();
    const waiter = start('redis-waiter', server.port, 'fair');
    expect(await waiter.next()).toBe('waiting');
    await eventually('it queues', () => server.command('EXISTS', `redisson_lock_queue:{${key}}`));
    const other = await clients.on(server.client(), { watchdogTimeout: LEASE });
    const behind = other.mutex(key, { fair: true }).acquire();
    await eventually('we are behind it', async () => {
      return (await server.command('LLEN', `redisson_lock_queue:{${key}}`)) === 2;
    });
    await waiter.stop();
    await lease.release();
    const begun = performance.now();
    expect(await behind).toMatchObject({ isHeld: true });
    expect(performance.now() - begun).toBeLessThan(LEASE + 2_000);
  });

  it('that is killed while it waits to write keeps readers out for one lease', async () => {
    const room = locks.readWriteLock(key, { preferWriters: true });
    await room.readLock().acquire();
    const waiter = start('redis-waiter', server.port, 'writer');
    expect(await waiter.next()).toBe('waiting');
    await eventually(
      'readers wait',
      async () => (await room.readLock().tryAcquire()) === undefined,
    );
    await waiter.stop();
    const begun = performance.now();
    expect(await room.readLock().acquire()).toMatchObject({ isHeld: true });
    expect(performance.now() - begun).toBeLessThan(LEASE + 2_000);
  });
});
