import { describe, expect, it } from '@jest/globals';
import { LockConnectionError } from '../../lib/core/errors/index.js';
import { createRedLockClient } from '../../lib/redis/red-lock/create-red-lock-client.js';
import { eventually } from '../support/eventually.js';
import { clientStatusLossSuite } from './client-status-loss.suite.js';
import { clientStatusSuite } from './client-status.suite.js';
import { independentRedis } from './independent-redis.js';
import { onStage } from './on-stage.js';
import { RedLockStage } from './red-lock-stage.js';

/** A bound that no stall of this machine reaches, in ms. */
const PATIENCE = 20_000;

const build = async () => RedLockStage.build(await independentRedis(5), 'mutex');

clientStatusSuite('five Redis servers', build, {
  holders: async ({ servers, key }) => {
    const fields = await Promise.all(servers.map((server) => server.command('HKEYS', key)));
    return fields.flat().filter((field) => field !== 'nestjs-interlock');
  },
  suspended: 'down',
  hasAllRecipes: false,
});

describe('A client on five Redis servers of which some are away', () => {
  const stage = onStage(build);
  const health = () => stage().mine.locks.status();

  it('is up with all servers, degraded without a minority, down without a majority', async () => {
    const { servers } = stage();
    expect(health()).toMatchObject({ health: 'up', servers: { connected: 5, total: 5 } });
    for (const [i, expected] of (['degraded', 'degraded', 'down'] as const).entries()) {
      await servers[i]!.kill();
      const connected = 4 - i;
      await eventually('it knows', () => health().servers?.connected === connected);
      const state = expected === 'down' ? 'SUSPENDED' : 'CONNECTED';
      expect(health()).toMatchObject({ health: expected, state, servers: { total: 5 } });
    }
    await Promise.all(servers.slice(0, 3).map((server) => server.restart()));
    await eventually('all are back', () => health().health === 'up', { within: 20_000 });
  });

  it('rejects ping() with the answers of a minority, though it need not wait for the others', async () => {
    const { mine } = stage();
    for (const node of mine.nodes.slice(0, 3)) node.disconnect(); // as when ioredis gives up
    await eventually('it knows', () => health().servers?.connected === 2);
    expect(health()).toMatchObject({ health: 'down', state: 'CLOSED' });
    await expect(mine.locks.ping(PATIENCE)).rejects.toThrow('2 of 5 servers have answered');
  });

  it('resolves ping() with the answers of a majority, and rejects it with those of a minority', async () => {
    const { mine, servers } = stage();
    for (const i of [0, 3]) servers[i]!.freeze();
    expect(await mine.locks.ping(PATIENCE)).toBeGreaterThanOrEqual(0);
    servers[1]!.freeze();
    await expect(mine.locks.ping(300)).rejects.toBeInstanceOf(LockConnectionError);
    for (const i of [0, 1, 3]) servers[i]!.thaw();
    expect(await mine.locks.ping(PATIENCE)).toBeGreaterThanOrEqual(0);
  });
});

clientStatusLossSuite(
  'three Redis servers that go away',
  async () => {
    const servers = await independentRedis(3);
    const nodes = servers.map((server) => server.client({ lazyConnect: true }));
    const each = (work: 'kill' | 'restart' | 'stop') =>
      Promise.all(servers.map((server) => server[work]())).then(() => {});
    return {
      client: await createRedLockClient('contract', { nodes, watchdogTimeout: 2_000 }),
      kill: () => each('kill'),
      restart: () => each('restart'),
      stop: () => each('stop'),
    };
  },
  'down',
);
