import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { eventually } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis-server.js';
import { Program } from '../support/program.js';
import { RedisLockClients } from '../support/redis-lock-clients.js';
import { SEMAPHORES } from './semaphore-kinds.js';
import { permitsOf } from './semaphore-permits-of.js';

/** Longer than a busy machine may keep a process from renewing. */
const LEASE = 2_000;
const STALL = 1_000;
const PROCESSES = 5;
const EACH = 10;

describe('Processes that are killed', () => {
  const clients = new RedisLockClients();
  const programs: Program[] = [];
  let server: RedisServer;
  let redis: Redis;
  let locks: RedisLockClient;

  beforeAll(async () => {
    server = await RedisServer.start();
    redis = server.client();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    locks = await clients.on(server.client(), { watchdogTimeout: LEASE });
  });
  afterEach(async () => {
    await Promise.all(programs.splice(0).map((program) => program.stop()));
    await clients.close();
  });

  /** A process that has all permits of some semaphores, for which another client waits; it is killed. */
  async function crash(): Promise<void> {
    const keys = Array.from({ length: EACH }, () => randomUUID());
    const url = new URL('../programs/permit-holder.ts', import.meta.url);
    const program = new Program(url, [`${server.port}`, `${LEASE}`, ...keys]);
    programs.push(program);
    expect(await program.next()).toBe('held');

    const waiting = new Set<string>();
    const stop = locks.on('contended', (event) => void waiting.add(event.key));
    const queued = keys.map((key, n) => {
      const [, of] = SEMAPHORES[n % SEMAPHORES.length]!;
      const lease = of(locks, key).acquire({ permits: 1 + (n % 3) });
      return lease.then((granted) => ({ granted, at: Date.now() }));
    });
    await eventually('all wait', () => keys.every((key) => waiting.has(key)));
    stop();
    await program.stop();
    const killedAt = Date.now();
    const before = await Promise.all(keys.map((key) => permitsOf(redis, key)));

    const grants = await Promise.all(queued);
    for (const [n, { granted, at }] of grants.entries()) {
      expect(before[n]).toMatchObject({ free: 0, taken: 3 });
      expect(at).toBeLessThan(killedAt + LEASE + STALL);
      expect(granted.permitIds).toHaveLength(1 + (n % 3));
    }
    await eventually('the others are back, too', async () => {
      const semaphores = keys.map((key) => locks.semaphore(key, { permits: 3 }));
      const free = await Promise.all(semaphores.map((semaphore) => semaphore.availablePermits()));
      return free.every((count, n) => count === 2 - (n % 3));
    });
    await Promise.all(grants.map(({ granted }) => granted.release()));
    const all = keys.map((key) => locks.semaphore(key, { permits: 3 }).acquire({ permits: 3 }));
    for (const lease of await Promise.all(all)) await lease.release(); // fetches what ended after a grant
    const after = await Promise.all(keys.map((key) => permitsOf(redis, key)));
    expect(after).toEqual(keys.map(() => ({ free: 3, taken: 0, end: 0 })));
  }

  it(`return all permits within one lease, ${PROCESSES * EACH} times out of ${PROCESSES * EACH}`, async () => {
    let started = 0;
    const oneByOne = async () => {
      while (started++ < PROCESSES) await crash();
    };
    await Promise.all([oneByOne(), oneByOne()]);
    expect(programs).toHaveLength(PROCESSES);
  }, 120_000);
});
