import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { CriticalSection } from '../faults/support/leases.js';
import { TestClient } from '../faults/support/test-client.js';
import { eventually } from '../support/time.js';
import { useZooKeeperEnsemble } from '../support/fixtures.js';
import { byTier } from '../support/tier.js';
import type { ZooKeeperServer } from '../support/zookeeper-server.js';
import { expectLost } from './backends/leases.js';
import { LeaderSelectorReign } from './backends/recipes.js';
import { ZooKeeperSemaphoreStage } from './backends/semaphores.js';
import { nextKey, onStage } from './backends/stage.js';
import { ZooKeeperBackend } from './backends/zookeeper-servers.js';
import { Stage } from './backends/zookeeper.js';

const ensemble = useZooKeeperEnsemble({ containerCheckIntervalMs: 600_000 });

afterEach(async () => {
  const { servers } = ensemble();
  await Promise.all(servers.filter((it) => !it.running).map((server) => server.restart()));
}, 60_000);

/**
 * The cases of Curator's TestInterProcessSemaphoreCluster, but for the ensemble that is replaced by another one under a
 * running client: the servers of ours are given once.
 */
describe('A semaphore on an ensemble that loses its quorum', () => {
  const stage = onStage(() => Stage.build(new ZooKeeperBackend(ensemble().servers)));
  const semaphores = new ZooKeeperSemaphoreStage(stage);

  it('grants nothing without it, takes nothing away, and goes on with it (Curator: testCluster)', async () => {
    const { mine, theirs } = stage();
    const third = await stage().client();
    const clients = [mine, theirs, third]; // on a server each
    const section = new CriticalSection();
    let isOver = false;
    const kept = await semaphores.of(mine, 3).acquire();
    const visits = clients.map(() => 0);
    const workers = clients.map(async (client, n) => {
      while (!isOver) {
        await semaphores.of(client, 3).using(async () => {
          section.enter(`client ${n}`);
          await client.connection.sync('/').catch(() => {}); // which fails without a quorum
          visits[n]! += 1;
          section.leave();
        });
      }
    });
    const allWorkOn = () => {
      const sofar = [...visits];
      return eventually(
        'every client has had a permit 3 times more',
        () => visits.every((count, n) => count >= sofar[n]! + 3),
        { within: 20_000 },
      );
    };
    await allWorkOn();

    const [first, second] = ensemble().servers;
    await Promise.all([first!.kill(), second!.kill()]);
    await eventually('no client is connected', () =>
      clients.every(({ connection }) => !connection.isConnected),
    );
    await expect(semaphores.of(third, 3).acquire({ wait: 100 })).rejects.toBeInstanceOf(
      LockTimeoutError,
    );
    const stopped = [...visits];
    expect([kept.isHeld, kept.signal.aborted]).toEqual([true, false]);

    await Promise.all([first!.restart(), second!.restart()]);
    await allWorkOn();
    isOver = true;
    await Promise.all(workers);
    expect(visits.every((count, n) => count > stopped[n]!)).toBe(true);
    expect(section.most).toBeLessThanOrEqual(2); // the third permit was kept
    expect(kept.isHeld).toBe(true);
    await kept.release();
    await semaphores.nodesBecome({ leases: 0, gate: 0 });
  }, 60_000);
});

/** Curator's TestLeaderSelectorCluster. */
describe('A leader selector on an ensemble that loses servers', () => {
  let client: TestClient;
  let key: string;

  beforeEach(async () => {
    key = nextKey();
    client = await connect();
  });
  afterEach(() => client.locks.close(20_000));

  const connect = () => TestClient.connect(ensemble().connectString, { sessionTimeout: 4_000 });
  const serverOfClient = () => ensemble().serverOf(client.connection.session!.id);
  const nodes = () => client.children(`/locks/${key}`);

  it('goes on leading when the server that it is connected to is killed (Curator: testRestart)', async () => {
    const server = await eventually('a client of a server that follows', async () => {
      const [followers, its] = [await ensemble().followers(), await serverOfClient()];
      if (followers.includes(its!)) return its;
      await client.locks.close();
      client = await connect();
      return undefined;
    });
    let terms = 0;
    let left: string[] | undefined;
    const selector = client.locks.leaderSelector(
      key,
      async ({ signal }) => {
        left = await nodes().catch(() => undefined); // the connection may be going just now
        if (!signal.aborted) terms += 1;
      },
      { autoRequeue: true },
    );
    selector.start();
    await eventually('it leads', () => terms > 0);
    expect(left!.length).toBeGreaterThan(0);
    await server.kill();
    await client.reached('RECONNECTED');
    const before = terms;
    await eventually('it leads again', () => terms > before, { within: 20_000 });
    await selector.close();
    expect(await nodes()).toEqual([]);
  }, 60_000);

  it('leads no longer when all servers are gone, and leads again when they are back and it was queued (Curator: testLostRestart)', async () => {
    const reign = new LeaderSelectorReign();
    const selector = client.locks.leaderSelector(key, reign.leads());
    selector.start();
    const leadership = await reign.begun(1);
    const [node, ...more] = await nodes();
    expect(more).toEqual([]);
    await Promise.all(ensemble().servers.map((server) => server.kill()));
    await client.reached('LOST');
    expectLost(leadership as Lease);
    expect([selector.hasLeadership, reign.leaders.length]).toEqual([false, 1]);

    expect(selector.requeue()).toBe(true);
    await Promise.all(ensemble().servers.map((server) => server.restart()));
    const second = await reign.begun(2);
    expect([selector.hasLeadership, second.isHeld]).toEqual([true, true]);
    await eventually(
      'only the new node is there',
      async () => {
        const [first, ...others] = await nodes();
        return others.length === 0 && first !== node;
      },
      { within: 20_000 },
    ); // the servers grant an old session its time anew
    await selector.close();
    expect(await nodes()).toEqual([]);
  }, 60_000);
});

const SESSION_TIMEOUT = 6_000;

/** The case of Curator's TestLeaderLatchCluster. */
describe('Leader latches on an ensemble that loses a server', () => {
  let key: string;
  const clients: TestClient[] = [];

  beforeEach(() => {
    key = nextKey();
  });
  afterEach(() => Promise.all(clients.splice(0).map(({ locks }) => locks.close())));

  const victims = byTier<('leader' | 'follower')[]>({
    quick: ['leader'],
    standard: ['leader'],
    long: ['leader', 'follower'],
  });

  it.each(victims)(
    'elect another leader when the server of the leader was the %s, and never two (Curator: testInCluster)',
    async (role) => {
      const victim = await serverWhich(role);
      const others = ensemble().servers.filter((server) => server !== victim);
      const latches: LeaderLatch[] = [];
      let most = 0;
      for (const { connectString } of [victim, ...others]) {
        const latch = await queued(connectString);
        latch.onLeadership(() => {
          const leaders = latches.filter(({ hasLeadership }) => hasLeadership);
          most = Math.max(most, leaders.length);
        });
        latches.push(latch);
      }
      const [leader, ...rest] = latches as [LeaderLatch, LeaderLatch, LeaderLatch];
      await leader.awaitLeadership();
      const token = await leader.leadership!.fencingToken();
      await victim.kill();
      const next = await eventually(
        'another one leads',
        () => rest.find(({ hasLeadership }) => hasLeadership),
        { within: 40_000 },
      );
      expect(leader.hasLeadership).toBe(false);
      expect(await next.leadership!.fencingToken()).toBeGreaterThan(token);

      await victim.restart();
      await eventually(
        'all stand again',
        async () => (await next.participants()).length === latches.length,
        { within: 40_000 },
      );
      expect(latches.filter(({ hasLeadership }) => hasLeadership)).toHaveLength(1);
      expect(most).toBe(1);
    },
    120_000,
  );

  it('keep the leader when its client knows the other servers', async () => {
    const victim = await serverWhich('follower');
    const all = `${victim.connectString},${ensemble().connectString}`;
    const latch = await eventually('a latch of a client on that server', async () => {
      const candidate = await queued(all);
      const { session } = clients.at(-1)!.connection;
      if ((await ensemble().serverOf(session!.id)) === victim) return candidate;
      await candidate.close();
      return undefined;
    });
    const [client] = clients.slice(-1);
    const leadership = await latch.awaitLeadership();
    const token = await leadership.fencingToken();
    const other = await queued(
      ensemble().servers.find((server) => server !== victim)!.connectString,
    );
    await victim.kill();
    await client!.reached('RECONNECTED');
    const again = await latch.awaitLeadership();
    expect([leadership.isHeld, again.isHeld, other.hasLeadership]).toEqual([false, true, false]);
    expect(await again.fencingToken()).toBe(token);
    await victim.restart();
  }, 60_000);

  async function serverWhich(role: 'leader' | 'follower'): Promise<ZooKeeperServer> {
    const leader = await ensemble().leader();
    if (role === 'leader') return leader;
    const [follower] = await eventually('all are back', async () => {
      const followers = await ensemble().followers();
      return followers.length === 2 && followers;
    });
    return follower!;
  }

  /** A latch of a new client, at the end of the queue. */
  async function queued(connect: string): Promise<LeaderLatch> {
    const client = await TestClient.connect(connect, { sessionTimeout: SESSION_TIMEOUT });
    clients.push(client);
    const latch = client.locks.leaderLatch(key);
    const { length } = await client.children(`/locks/${key}`);
    latch.start();
    await client.queue(`/locks/${key}`, length + 1);
    return latch;
  }
});
