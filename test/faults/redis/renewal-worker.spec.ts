import { describe, expect, it } from '@jest/globals';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../../lib/redis/redis-options.js';
import { useCleanup, useRedisCluster } from '../../support/fixtures.js';
import { eventually } from '../../support/time.js';
import { byTier } from '../../support/tier.js';
import { Program } from '../support/program.js';
import { expiryOf, holderOf, holdersOf, KINDS } from '../support/redis-kinds.js';
import { RedisLockClients, useRedisStage } from '../support/redis-stage.js';

/** In the long tier as they would be in an app. In ms. */
const [LEASE, BLOCK] = byTier<[number, number]>({
  quick: [3_000, 5_000],
  standard: [3_000, 5_000],
  long: [30_000, 40_000],
});
const ROUNDS = byTier({ quick: 1, standard: 1, long: 2 });
/** Longer than it is blocked. */
const PATIENT = { renewalWorker: { maxStall: 2 * LEASE } };
/** How much later a machine may do anything. */
const SLACK = 2_000;
const ALL = KINDS.map(({ name }) => name);

const stage = useRedisStage();
const cluster = useRedisCluster();

describe('A process that blocks its event loop for longer than its leases', () => {
  const cleanup = useCleanup();

  /** It holds a lock of each kind. */
  async function start(options: RedisLockOptions = PATIENT): Promise<Program> {
    const url = new URL('../programs/redis-blocker.ts', import.meta.url);
    const connect = options.cluster ? {} : { connect: stage.server.url };
    const whole = JSON.stringify({ watchdogTimeout: LEASE, ...connect, ...options });
    const program = cleanup(new Program(url, [whole, stage.key]), (each) => each.stop());
    expect(await program.next()).toBe('held');
    return program;
  }

  /** Another client waits for its mutex. */
  function queue(locks: Promise<RedisLockClient> = stage.near()): Promise<'taken'> {
    const taken = locks.then(async (client) => {
      await client.mutex(`${stage.key} mutex`).acquire();
      return 'taken' as const;
    });
    taken.catch(() => {}); // the test is over
    return taken;
  }

  /** They were not renewed at the same time as the mutex. */
  async function othersHaveEnded(): Promise<boolean> {
    const keys = ALL.filter((name) => name !== 'mutex').map((name) => `${stage.key} ${name}`);
    const ends = await Promise.all(keys.map((key) => expiryOf(stage.server, key)));
    return ends.every((end) => end < Date.now());
  }

  it.each(['ioredis', 'node-redis'] as const)(
    'has a worker with a connection of its own when its client is connected (%s)',
    async (driver) => {
      const ids = async () => {
        const list = String(await stage.redis.call('CLIENT', 'LIST', 'TYPE', 'normal'));
        return [...list.matchAll(/^id=(\d+)/gm)].map(([, id]) => Number(id));
      };
      const connect = stage.server.url;
      const latest = Math.max(...(await ids()));
      await stage.clients.with({ ...PATIENT, watchdogTimeout: LEASE, driver, connect });
      expect((await ids()).filter((id) => id > latest)).toHaveLength(2);
    },
  );

  it.each<[string, RedisLockOptions]>([
    ['ioredis', PATIENT],
    ['node-redis', { ...PATIENT, driver: 'node-redis' }],
  ])(
    'keeps its locks with a worker that renews by %s',
    async (_, options) => {
      const holder = await start(options);
      const taken = queue();
      for (let round = 0; round < ROUNDS; round++) {
        holder.tell(`block ${BLOCK}`);
        expect(await Promise.race([holder.next(), taken])).toEqual({ lost: [], threads: 1 });
      }
      holder.tell('release');
      expect(await holder.next()).toBe('released');
      expect(await taken).toBe('taken');
      holder.tell('close');
      expect(await holder.next()).toBe('closed');
      expect(await holder.exited).toEqual({ code: 0, signal: null, errors: '' });
    },
    120_000,
  );

  it('keeps them in a cluster, too', async () => {
    const locks = new RedisLockClients();
    cleanup(locks, () => locks.close());
    const holder = await start({ ...PATIENT, cluster: { nodes: cluster().nodes } });
    const taken = queue(locks.on(cluster().client()));
    holder.tell(`block ${BLOCK}`);
    expect(await Promise.race([holder.next(), taken])).toEqual({ lost: [], threads: 1 });
    holder.tell('release');
    expect(await holder.next()).toBe('released');
    expect(await taken).toBe('taken');
  }, 60_000);

  it('loses them without a worker', async () => {
    const holder = await start({});
    const taken = queue();
    holder.tell(`block ${BLOCK}`);
    const report = holder.next();
    expect(await Promise.race([report, taken])).toBe('taken');
    expect(await report).toEqual({ lost: ALL, threads: 0 });
  }, 60_000);

  it('loses them when it has shown no sign of life for `maxStall`, a lease later at most', async () => {
    const maxStall = 1.5 * LEASE;
    const holder = await start({ renewalWorker: { maxStall } });
    const taken = queue();
    const before = performance.now();
    holder.tell(`block ${3.5 * LEASE}`);
    const report = holder.next();
    expect(await Promise.race([report, taken])).toBe('taken');
    const after = performance.now() - before;
    expect(after).toBeGreaterThan(maxStall);
    expect(after).toBeLessThan(maxStall + LEASE + SLACK);
    expect(await report).toEqual({ lost: ALL, threads: 1 });
  }, 150_000);

  it('loses them when its worker has ended, of which one warning was given', async () => {
    const holder = await start();
    const taken = queue();
    holder.tell('end');
    expect(await holder.next()).toBe('ended');
    holder.tell('look');
    expect(await holder.next()).toEqual({ lost: [], threads: 1 });
    holder.tell(`block ${BLOCK}`);
    const report = holder.next();
    expect(await Promise.race([report, taken])).toBe('taken');
    expect(await report).toEqual({ lost: ALL, threads: 1 });
    holder.tell('warnings');
    expect(await holder.next()).toEqual([
      expect.stringMatching(/thread that keeps the locks of client "blocker" .* has ended\. Only/),
    ]);
    holder.tell('close');
    expect(await holder.next()).toBe('closed');
    expect(await holder.exited).toMatchObject({ code: 0 });
  }, 90_000);

  it('gives one warning when its worker cannot connect, and keeps its locks as long as it is not blocked', async () => {
    const options = { connectTimeout: 1_000, renewalWorker: { maxStall: LEASE } };
    const holder = await start(options);
    const key = `${stage.key} mutex`;
    const expiresAfter = async (time: number) => (await expiryOf(stage.server, key)) > time;
    const end = Date.now() + LEASE;
    holder.tell(`block ${1.2 * LEASE}`); // its worker connects anew after that
    await eventually('its worker renews it', () => expiresAfter(end + LEASE / 10), {
      within: LEASE,
    });
    const setPassword = (password: string) => stage.redis.config('SET', 'requirepass', password);
    cleanup('', setPassword);
    await setPassword('changed');
    expect(await holder.next()).toEqual({ lost: [], threads: 1 });
    holder.tell('warnings');
    expect(await holder.next()).toEqual([
      expect.stringMatching(
        /could not connect to Redis within 1000 ms \(.*NOAUTH.*\)\. Only .* Check/,
      ),
    ]);
    await setPassword('');
    const now = Date.now() + LEASE;
    await eventually('the main thread renews it', () => expiresAfter(now), { within: LEASE });
    holder.tell('close');
    expect(await holder.next()).toBe('closed');
    expect(await holder.exited).toMatchObject({ code: 0 });
  }, 150_000);

  it('loses them within a lease when it is killed', async () => {
    const holder = await start();
    const taken = queue();
    const before = performance.now();
    await holder.stop();
    await taken;
    expect(performance.now() - before).toBeLessThan(LEASE + SLACK);
  }, 60_000);

  it('loses them when the whole process stands still, and its worker revives none', async () => {
    const holder = await start();
    const locks = await stage.near();
    holder.freeze();
    const lease = await locks.mutex(`${stage.key} mutex`).acquire();
    await eventually('the other leases have ended', othersHaveEnded, { within: LEASE });
    holder.thaw();
    holder.tell('look');
    expect(await holder.next()).toEqual({ lost: ALL, threads: 1 });
    expect(await holdersOf(stage.server, `${stage.key} mutex`)).toEqual([holderOf(lease)]);
    holder.tell(`block ${BLOCK}`); // its worker has none of them left
    expect(await holder.next()).toEqual({ lost: ALL, threads: 1 });
    expect(lease.isHeld).toBe(true);
    expect(await holdersOf(stage.server, `${stage.key} mutex`)).toEqual([holderOf(lease)]);
  }, 120_000);
});
