import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { type LockModuleOptions, RunOnce } from '../../lib/index.js';
import { useCleanup, useRedis, useShared, useZooKeeper } from '../support/fixtures.js';
import type { ProxiedConnection, TcpProxy } from '../support/proxies.js';
import { RedisProxy } from '../support/redis-proxy.js';
import { eventually } from '../support/time.js';
import { FaultProxy } from '../support/zookeeper-proxy.js';
import { clientOf, isFree, useApps } from './support/apps.js';

const AT_LEAST = 1_000;
const TICK = Date.now();

@Injectable()
class Reports {
  runs = 0;

  @RunOnce('report', { atMost: 60_000, atLeast: AT_LEAST })
  async report(): Promise<string | undefined> {
    this.runs += 1;
    return 'written';
  }

  @RunOnce('ticking report', { atMost: 60_000, occurrence: () => TICK })
  async ticking(): Promise<string | undefined> {
    this.runs += 1;
    return 'written';
  }
}

interface Site {
  readonly direct: LockModuleOptions;
  readonly through: (proxy: TcpProxy<ProxiedConnection>) => LockModuleOptions;
  readonly proxy: () => Promise<TcpProxy<ProxiedConnection> & { stop(): unknown }>;
}

const redis = useRedis();
const zookeeper = useZooKeeper();
const sites: Record<string, () => Site> = {
  Redis: () => ({
    direct: { backend: 'redis', connect: redis().url },
    through: ({ port }) => ({ backend: 'redis', connect: `redis://127.0.0.1:${port}` }),
    proxy: () => RedisProxy.start(redis()),
  }),
  ZooKeeper: () => ({
    direct: { backend: 'zookeeper', connect: zookeeper().connectString },
    through: ({ port }) => ({ backend: 'zookeeper', connect: `127.0.0.1:${port}` }),
    proxy: () => FaultProxy.start(zookeeper()),
  }),
};

describe.each(['Redis', 'ZooKeeper'])('A replica whose link to %s stalls at the tick', (server) => {
  const apps = useApps();
  const proxy = useShared(() => sites[server]!().proxy());
  const cleanup = useCleanup();

  async function boot() {
    const { direct, through } = sites[server]!();
    const boots = [direct, through(proxy())].map((client) =>
      apps.boot({ clients: [client], providers: [Reports] }),
    );
    const [healthy, stalled] = await Promise.all(boots);
    return { healthy: healthy!, stalled: stalled! };
  }

  it('runs nothing where another has run for `atLeast`, and is in the way of nobody', async () => {
    const { healthy, stalled } = await boot();
    cleanup(proxy(), (it) => it.release());
    const name = clientOf(healthy).semaphoreMutex('report');
    proxy().hold();
    const calledAt = performance.now();
    const late = expect(stalled.get(Reports).report()).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
    });
    expect(await healthy.get(Reports).report()).toBe('written');
    await eventually('its `atLeast` is over', async () => {
      return performance.now() - calledAt > AT_LEAST && (await isFree(name));
    });
    proxy().release();
    await late;
    expect(stalled.get(Reports).runs).toBe(0);
    await eventually('the name is free', () => isFree(name));
  });

  it('skips an occurrence that another has run, also without an `atLeast`', async () => {
    const { healthy, stalled } = await boot();
    cleanup(proxy(), (it) => it.release());
    proxy().hold();
    const calledAt = performance.now();
    const late = stalled.get(Reports).ticking();
    expect(await healthy.get(Reports).ticking()).toBe('written');
    await eventually('3 s have passed', () => performance.now() - calledAt > 3_000);
    proxy().release();
    expect(await late).toBeUndefined();
    expect(stalled.get(Reports).runs).toBe(0);
  });
});
