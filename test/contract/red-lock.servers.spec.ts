import { describe, expect, it } from '@jest/globals';
import type { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import { LockConnectionError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { createRedLockClient } from '../../lib/redis/red-lock/create-red-lock-client.js';
import { onRedLock } from '../redis/support/red-lock-stage.js';
import { eventually } from '../support/time.js';
import { expectLost } from './backends/leases.js';
import { RedLockStage } from './backends/red-lock.js';
import { independentRedis } from './backends/redis-servers.js';
import { useDeployment } from './backends/stage.js';
import { clientStatusLossSuite, clientStatusSuite } from './client-status.suite.js';
import { redLockElectionGround } from './leader-election-accidents.suite.js';
import { leaderElectionSuite } from './leader-election.suite.js';
import { redLockStatusSuite, redLockSuite } from './red-lock.suite.js';

/** The three or five servers of a RedLock. */
describe('RedLock', () => {
  const on = useDeployment('five Redis servers', () => independentRedis(5));

  redLockSuite(on, 'mutex', 5);
  redLockSuite(on, 'semaphoreMutex', 3);
  leaderElectionSuite({ ...on, name: 'three independent Redis servers' }, () =>
    redLockElectionGround(on.backend().servers.slice(0, 3)),
  );
  clientStatusSuite(on, () => RedLockStage.build(on.backend().servers, 'mutex'), {
    holders: async ({ servers, key }) => {
      const fields = await Promise.all(servers.map((server) => server.command('HKEYS', key)));
      return fields.flat().filter((field) => field !== 'nestjs-interlock');
    },
    suspended: 'down',
    hasAllRecipes: false,
  });
  redLockStatusSuite(on);
});

clientStatusLossSuite(
  'three Redis servers that go away',
  async () => {
    const { servers } = await independentRedis(3);
    const nodes = servers.map((server) => server.client({ lazyConnect: true }));
    const each = (work: 'kill' | 'restart' | 'stop') =>
      Promise.all(servers.map((server) => server[work]())).then(() => {});
    const client = await createRedLockClient('contract', { nodes, watchdogTimeout: 2_000 });
    return {
      client,
      async connect() {
        await client.connect(); // to a majority
        await eventually('all are up', () => client.status().health === 'up');
      },
      kill: () => each('kill'),
      restart: () => each('restart'),
      stop: () => each('stop'),
    };
  },
  'down',
);

const TIMES = { watchdogTimeout: 3_000, nodeTimeout: 1_000 };

describe('An election on five independent Redis servers of which some are away', () => {
  const stage = onRedLock(5);

  /** One that leads, on all servers, and one that follows. */
  const latches = async (): Promise<[LeaderLatch, LeaderLatch]> => {
    const [mine, theirs] = await stage().clients(2, TIMES);
    const first = await eventually('one leads by all servers', async () => {
      const latch = mine!.leaderLatch(stage().key, { id: 'candidate 0' });
      latch.start();
      await latch.awaitLeadership();
      if (await stage().isOnAll()) return latch;
      return void (await latch.close());
    });
    const second = theirs!.leaderLatch(stage().key, { id: 'candidate 1' });
    second.start();
    return [first, second];
  };

  it.each(['kill', 'freeze'] as const)('goes on without a minority: %s', async (how) => {
    const { servers } = stage();
    const [first, second] = await latches();
    const { leadership } = first;
    for (const i of [1, 3]) await servers.all[i]![how]();
    const startedAt = performance.now();
    await eventually('leases are over', () => performance.now() - startedAt > 4_000);
    expect([first.leadership === leadership, leadership!.isHeld]).toEqual([true, true]);
    for (const latch of [first, second])
      expect(await latch.participants()).toEqual([{ id: 'candidate 0', isLeader: true }]);
    const token = await leadership!.fencingToken();
    await first.close();
    const next = await second.awaitLeadership({ wait: 20_000 });
    expect(await next.fencingToken()).toBeGreaterThan(token);
    await second.close();
  });

  it('has no leader without a majority, and one when that is back', async () => {
    const { servers } = stage();
    const both = await latches();
    const { leadership } = both[0];
    await servers.kill(0, 2, 4);
    await eventually('it knows', () => leadership!.signal.aborted);
    expectLost(leadership as Lease);
    expect(both.some(({ hasLeadership }) => hasLeadership)).toBe(false);
    await expect(both[1].leader()).rejects.toBeInstanceOf(LockConnectionError);
    await servers.restore();
    const leading = () => both.filter(({ hasLeadership }) => hasLeadership).length;
    await eventually('one leads', () => leading() === 1, { within: 20_000 });
    for (const latch of both) await latch.close();
    await stage().isEmpty();
  });
});
