import { describe, expect, it } from '@jest/globals';
import type { LockModuleOptions, RedisLockClient, ZooKeeperLockClient } from '../../lib/index.js';
import { Program } from '../faults/support/program.js';
import { useCleanup, useRedisCluster, useRedisSentinel } from '../support/fixtures.js';
import { byTier } from '../support/tier.js';
import { isSettled } from '../support/time.js';
import { clientOf, useApps } from './support/apps.js';
import { useDeployment } from './support/deployments.js';

const cleanup = useCleanup();

function boot(options: LockModuleOptions, part: string): Program {
  const url = new URL('programs/booting-app.ts', import.meta.url);
  return cleanup(new Program(url, [JSON.stringify(options), part]), (each) => each.stop());
}

/** Where another provider fails: in the end all are the same to us, so a normal run tries the first and the last. */
const FAILURES = byTier({
  quick: [],
  standard: ['factory', 'locking'],
  long: ['factory', 'onModuleInit', 'onApplicationBootstrap', 'locking'],
});

/** Expects that the boot fails and the process ends by itself, well before a test times out. */
async function expectEnd(program: Program): Promise<void> {
  expect(await program.next()).toBe('Error: the database is away');
  expect(await program.exited).toEqual({ code: 0, signal: null, errors: '' });
}

/** The client of either backend. */
type Client = Pick<RedisLockClient, 'mutex' | 'leaderLatch' | 'countDownLatch'> &
  Pick<ZooKeeperLockClient, 'barrier'>;
type Held = [what: string, hold: (client: Client) => Promise<() => Promise<unknown>>];
const ON_BOTH: Held[] = [
  [
    'a lock',
    async (client) => {
      const lease = await client.mutex('migration').acquire();
      return () => lease.release();
    },
  ],
  [
    'leadership',
    async (client) => {
      const latch = client.leaderLatch('migration');
      latch.start();
      await latch.awaitLeadership();
      return () => latch.close();
    },
  ],
];
/** What a boot may wait for, and how it is held back until the returned function is called. */
const WAITS: Record<'zookeeper' | 'redis', Held[]> = {
  redis: [
    ...ON_BOTH,
    [
      'a latch',
      async (client) => {
        const latch = client.countDownLatch('migration');
        await latch.trySetCount(1);
        return () => latch.countDown();
      },
    ],
  ],
  zookeeper: [
    ...ON_BOTH,
    [
      'a barrier',
      async (client) => {
        const barrier = client.barrier('migration');
        await barrier.setBarrier();
        return () => barrier.removeBarrier();
      },
    ],
  ],
};

describe.each(['zookeeper', 'redis'] as const)('A process (%s)', (backend) => {
  const deployment = useDeployment(backend);
  const apps = useApps();

  it.each(FAILURES)('ends by itself when another provider fails the boot (%s)', (part) =>
    expectEnd(boot(deployment().options(), part)),
  );

  it('lives on when its boot is busy with what Node does not list, and locks after that', async () => {
    const program = boot(deployment().options(), 'computing');
    expect(await program.next()).toBe('booted');
  });

  it.each(WAITS[backend])(
    'lives on when its boot waits for nothing but %s, and when it is up',
    async (what, hold) => {
      const client = clientOf(await apps.boot({ clients: [deployment().options()] }));
      const free = await hold(client as unknown as Client);
      const program = boot(deployment().options(), what);
      expect(await program.next()).toBe('waits');
      const asked = performance.now();
      while (performance.now() - asked < 1_500) await client.ping();
      expect(await isSettled(program.exited)).toBe(false);

      await free();
      expect(await program.next()).toBe('booted');
      const booted = performance.now();
      while (performance.now() - booted < 1_500) await client.ping();
      expect(await isSettled(program.exited)).toBe(false);
    },
  );
});

it('A boot that reaches no server for a while ends without a warning of Node', async () => {
  const program = boot(
    { backend: 'redis', connect: 'redis://127.0.0.1:1', connectTimeout: 2_000 },
    '',
  );
  expect(await program.next()).toContain('LockConnectionError');
  expect(await program.exited).toEqual({ code: 0, signal: null, errors: '' });
});

describe('A process whose boot fails elsewhere ends by itself', () => {
  const cluster = useRedisCluster();
  const sentinel = useRedisSentinel();
  const several = useDeployment('several redis');

  it('on a cluster', () =>
    expectEnd(boot({ backend: 'redis', cluster: { nodes: cluster().nodes } }, 'locking')));

  it('behind sentinels', async () => {
    const sentinels = sentinel().sentinels.map(({ host, port }) => ({ host, port }));
    const connect = { sentinels, name: sentinel().masterName };
    await expectEnd(boot({ backend: 'redis', connect }, 'locking'));
  });

  it('on several servers, also while one of them is down', async () => {
    await expectEnd(boot(several().options(), 'locking'));
    await several().kill(0);
    await expectEnd(boot(several().options(), 'locking'));
  });
});
