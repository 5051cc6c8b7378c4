import { beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { lockRenew } from '../../../lib/redis/scripts/index.js';
import { eventually } from '../../support/time.js';
import { useCleanup } from '../../support/fixtures.js';
import { byTier } from '../../support/tier.js';
import { Program } from '../support/program.js';
import { expiryOf, holdersOf, onlyHolder, permitsOf, SEMAPHORES } from '../support/redis-kinds.js';
import { useRedisStage } from '../support/redis-stage.js';

/** Longer than a busy machine may keep a process from renewing. */
const LEASE = 2_000;
const STALL = 1_000;

/** What a holder reports that has asked for, and was notified of, the end of its leases. */
const TRUTH = { isHeld: false, isRefused: true, isAborted: true, areTold: true };

const stage = useRedisStage();

describe('A process', () => {
  const cleanup = useCleanup();
  let locks: RedisLockClient;

  beforeEach(async () => void (locks = await stage.near({ watchdogTimeout: LEASE })));

  function start(role: string, port: number, ...keys: string[]): Program {
    const url = new URL('../programs/redis-holder.ts', import.meta.url);
    const program = new Program(url, [`${port}`, `${LEASE}`, role, ...keys]);
    return cleanup(program, () => program.stop());
  }

  /** A process that holds locks and permits, and renews them, by way of the proxy. */
  async function startHolder(): Promise<Program> {
    const holder = start('holder', stage.proxy.port, stage.key);
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
    const { proxy } = stage;
    proxy.hold();
    const renewals = () => proxy.commands.filter(([, sha1]) => sha1 === lockRenew.sha1).length;
    const before = renewals();
    await eventually('a renewal is on its way', () => renewals() > before);
  }

  /** Takes the lock and all permits of a holder that stands still; resolves when its other leases are over, too. */
  async function takeOver(): Promise<[name: string, lease: RedisLease][]> {
    const { key, server } = stage;
    const permits = SEMAPHORES.map(async (kind): Promise<[string, RedisLease]> => {
      const name = `${key} ${kind.name}`;
      return [name, await kind.of(locks, name).acquire({ permits: 3 })];
    });
    const taken = await Promise.all(permits);
    const lease = await locks.mutex(key).acquire();
    const others = [`${key} renewed`, `${key} fixed`];
    const areOver = async () => (await server.command('EXISTS', ...others)) === 0;
    await eventually('its other leases are over', areOver);
    return [[key, lease], ...taken];
  }

  /** It knows of its losses at once, and takes nothing from the new holder. */
  async function expectTruth(
    holder: Program,
    taken: readonly [name: string, lease: RedisLease][],
  ): Promise<void> {
    expect(await holder.next()).toEqual(TRUTH);
    expect(await holder.next()).toBe('released');
    for (const [name, lease] of taken) {
      expect([name, lease.isHeld]).toEqual([name, true]);
      expect([name, await holdersOf(stage.server, name)]).toEqual([name, onlyHolder(lease)]);
    }
  }

  it.each([
    ['for longer than its leases last', async () => {}],
    ['while a renewal was on its way', stall],
  ])(
    'that was frozen %s knows of all losses at once, and takes nothing back',
    async (_, before) => {
      const holder = await startWatchedHolder();
      await before();
      holder.freeze();
      const taken = await takeOver();
      stage.proxy.resume();
      holder.thaw();
      await expectTruth(holder, taken);
    },
  );

  it.each([
    ['for longer than its leases last', async () => {}],
    ['while a renewal was on its way', stall],
  ])('that had its event loop blocked %s knows of all losses at once', async (_, before) => {
    const holder = await startHolder();
    await before();
    holder.tell('block');
    const lease = await locks.mutex(stage.key).acquire();
    expect(await holder.next()).toEqual(TRUTH);
    expect(lease.isHeld).toBe(true);
  });

  it('that is killed frees its locks after one lease', async () => {
    const { key, server } = stage;
    const holder = await startHolder();
    const queued = locks.mutex(key).acquire();
    await new Promise((resolve) => locks.on('contended', resolve));
    await holder.stop();
    const expiry = await expiryOf(server, key);
    expect(expiry).toBeLessThanOrEqual(Date.now() + LEASE);
    await queued;
    expect(Date.now()).toBeGreaterThanOrEqual(expiry);
    expect(Date.now()).toBeLessThan(expiry + STALL);
    await eventually('no lock of it is left', async () => {
      const names = (await server.command('KEYS', `*${key}*`)) as string[];
      return names.filter((name) => !name.includes('semaphore')).length === 1; // ours
    });
  });

  it('that is killed while it queues for a fair lock holds up those behind it for one lease', async () => {
    const { key, server } = stage;
    const queue = `redisson_lock_queue:{${key}}`;
    const lease = await locks.mutex(key, { fair: true }).acquire();
    const waiter = start('fair', server.port, key);
    expect(await waiter.next()).toBe('waiting');
    await eventually('it queues', () => server.command('EXISTS', queue));
    const other = await stage.near({ watchdogTimeout: LEASE });
    const behind = other.mutex(key, { fair: true }).acquire();
    await eventually('we are behind it', async () => (await server.command('LLEN', queue)) === 2);
    await waiter.stop();
    await lease.release();
    const begun = performance.now();
    expect(await behind).toMatchObject({ isHeld: true });
    expect(performance.now() - begun).toBeLessThan(LEASE + 2_000);
  });

  it('that is killed while it waits to write keeps readers out for one lease', async () => {
    const room = locks.readWriteLock(stage.key, { preferWriters: true });
    await room.readLock().acquire();
    const waiter = start('writer', stage.server.port, stage.key);
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

  /** A process that has all permits of ten semaphores, for which another client waits; it is killed. */
  async function crash(): Promise<void> {
    const { server } = stage;
    const keys = Array.from({ length: 10 }, () => randomUUID());
    const program = start('permits', server.port, ...keys);
    expect(await program.next()).toBe('held');

    const waiting = new Set<string>();
    const stop = locks.on('contended', (event) => void waiting.add(event.key));
    const queued = keys.map(async (key, n) => {
      const { semaphore } = SEMAPHORES[n % SEMAPHORES.length]!;
      const granted = await semaphore(locks, key).acquire({ permits: 1 + (n % 3) });
      return { granted, at: Date.now() };
    });
    await eventually('all wait', () => keys.every((key) => waiting.has(key)));
    stop();
    await program.stop();
    const killedAt = Date.now();
    const before = await Promise.all(keys.map((key) => permitsOf(server, key)));

    const grants = await Promise.all(queued);
    for (const [n, { granted, at }] of grants.entries()) {
      expect(before[n]).toMatchObject({ free: 0, taken: 3 });
      expect(at).toBeLessThan(killedAt + LEASE + STALL);
      expect(granted.permitIds).toHaveLength(1 + (n % 3));
    }
    const semaphores = keys.map((key) => locks.semaphore(key, { permits: 3 }));
    await eventually('the others are back, too', async () => {
      const free = await Promise.all(semaphores.map((semaphore) => semaphore.availablePermits()));
      return free.every((count, n) => count === 2 - (n % 3));
    });
    await Promise.all(grants.map(({ granted }) => granted.release()));
    const all = semaphores.map((semaphore) => semaphore.acquire({ permits: 3 }));
    for (const lease of await Promise.all(all)) await lease.release(); // fetches what ended after a grant
    const after = await Promise.all(keys.map((key) => permitsOf(server, key)));
    expect(after).toEqual(keys.map(() => ({ free: 3, taken: 0, end: 0 })));
  }

  it('that is killed, each time, has all its permits returned within one lease', async () => {
    for (let n = 0; n < byTier({ quick: 1, standard: 1, long: 5 }); n++) await crash();
  }, 120_000);
});
