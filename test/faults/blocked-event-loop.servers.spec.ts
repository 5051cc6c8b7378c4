import { describe, expect, it } from '@jest/globals';
import {
  createLockClient,
  type LockClientOptions,
  type LockLostError,
} from '../../lib/standalone/index.js';
import { nextEvent } from '../contract/backends/stage.js';
import { useRedis, useShared, useZooKeeper } from '../support/fixtures.js';
import { IndependentRedisServers } from '../support/redis-server.js';
import { eventually } from '../support/time.js';

const redis = useRedis();
const zookeeper = useZooKeeper();
const redLock = useShared(() => IndependentRedisServers.start(3));

/** Runs nothing for `ms`; returns how long that was. */
function block(ms: number): number {
  const before = performance.now();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  return performance.now() - before;
}

describe('A lock whose process has blocked its event loop', () => {
  it.each<[string, number, () => LockClientOptions]>([
    ['Redis', 3_000, () => ({ backend: 'redis', connect: redis().url, watchdogTimeout: 1_000 })],
    [
      'ZooKeeper',
      5_000,
      () => ({ backend: 'zookeeper', connect: zookeeper().connectString, sessionTimeout: 4_000 }),
    ],
  ])('on %s says for how long, when it is lost', async (_, ms, options) => {
    await using client = await createLockClient(options());
    const told = new Promise<LockLostError>((resolve) =>
      client.on('lost', ({ error }) => resolve(error)),
    );
    const lease = await client.mutex('blocked').acquire();
    const blocked = block(ms);
    expect(lease.isHeld).toBe(false);
    const error = lease.signal.reason as LockLostError;
    expect(error.stall!.ms).toBeGreaterThan(blocked - 260);
    expect(error.stall!.ms).toBeLessThan(blocked + 1_000);
    expect(error.stall!.agoMs).toBeLessThan(1_000);
    expect(error.confirmedAgoMs).toBeGreaterThan(blocked);
    expect(error.confirmedAgoMs).toBeLessThan(blocked + 2_000);
    expect(error.message).toMatch(
      /\(the event loop of this process was blocked for \d\.\d s, until \d\.\d s before; the servers confirmed it last \d\.\d s before\)/,
    );
    expect((await told).stall).toEqual(error.stall);
  });
});

describe('A lock that is endangered', () => {
  const DEPLOYMENTS: [string, number, () => LockClientOptions][] = [
    ['Redis', 3_000, () => ({ backend: 'redis', connect: redis().url, watchdogTimeout: 5_000 })],
    [
      'RedLock',
      3_000,
      () => ({
        backend: 'redis',
        nodes: redLock().nodes,
        watchdogTimeout: 5_000,
        nodeTimeout: 500,
      }),
    ],
    [
      'ZooKeeper',
      7_500,
      () => ({ backend: 'zookeeper', connect: zookeeper().connectString, sessionTimeout: 10_000 }),
    ],
  ];
  it.each(DEPLOYMENTS)(
    'on %s as the event loop was blocked is reported with the stall, and stays held',
    async (_, ms, options) => {
      await using client = await createLockClient(options());
      const heard = nextEvent(client, 'endangered');
      const seen = heard.then(() => client.status());
      await using lease = await client.mutex('endangered').acquire();
      const blocked = block(ms);
      const { key, confirmedAgoMs, safeForMs, stall } = await heard;
      expect(key).toBe('endangered');
      expect(stall!.ms).toBeGreaterThan(blocked - 260);
      expect(confirmedAgoMs).toBeGreaterThanOrEqual(blocked);
      expect(safeForMs).toBeGreaterThan(0);
      const longest = { ms: expect.any(Number) };
      expect(await seen).toMatchObject({ held: 1, endangered: 1, stall: longest });
      await eventually('it is confirmed', () => client.status().endangered === undefined);
      expect(lease.isHeld).toBe(true);
    },
  );

  /** What is reported while the servers are silent, until the lock is lost. */
  async function silenced(name: string, options: () => LockClientOptions) {
    await using client = await createLockClient(options());
    const order: string[] = [];
    let stall: LockLostError['stall'];
    client.on('endangered', () => order.push('endangered'));
    client.on('lost', ({ error }) => {
      order.push('lost');
      stall = error.stall;
    });
    await using _lease = await client.mutex('endangered').acquire();
    const servers = { Redis: [redis()], ZooKeeper: [zookeeper()], RedLock: redLock().all }[name]!;
    try {
      for (const server of servers) server.freeze();
      await eventually('it is lost', () => order.includes('lost'), { within: 20_000 });
    } finally {
      for (const server of servers) server.thaw();
    }
    return { order, stall };
  }

  it.each(DEPLOYMENTS)(
    'on %s as its server is silent is reported before it is lost',
    async (name, _, options) => {
      let seen = await silenced(name, options);
      // A process that itself stood still, where the machine is busy, learns of both at once.
      while (seen.stall !== undefined) seen = await silenced(name, options);
      expect(seen.order).toEqual(['endangered', 'lost']);
    },
    60_000,
  );
});
