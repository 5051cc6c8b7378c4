import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import { TestClient } from '../integration/support/test-client.js';
import { eventually } from '../support/eventually.js';
import { ZooKeeperEnsemble } from '../support/zookeeper-ensemble.js';
import type { ZooKeeperServer } from '../support/zookeeper-server.js';

const SESSION_TIMEOUT = 6_000;

/** The case of Curator's TestLeaderLatchCluster. */
describe('Leader latches on an ensemble that loses a server', () => {
  let ensemble: ZooKeeperEnsemble;
  let key: string;
  const clients: TestClient[] = [];

  beforeAll(async () => {
    ensemble = await ZooKeeperEnsemble.start();
  }, 60_000);
  beforeEach(() => {
    key = randomUUID();
  });
  afterEach(() => Promise.all(clients.splice(0).map(({ locks }) => locks.close())));
  afterAll(() => ensemble.stop());

  it.each(['leader', 'follower'] as const)(
    'elect another leader when the server of the leader was the %s, and never two (Curator: testInCluster)',
    async (role) => {
      const victim = await serverWhich(role);
      const others = ensemble.servers.filter((server) => server !== victim);
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
    const all = `${victim.connectString},${ensemble.connectString}`;
    const latch = await eventually('a latch of a client on that server', async () => {
      const candidate = await queued(all);
      const { session } = clients.at(-1)!.connection;
      if ((await ensemble.serverOf(session!.id)) === victim) return candidate;
      await candidate.close();
      return undefined;
    });
    const [client] = clients.slice(-1);
    const leadership = await latch.awaitLeadership();
    const token = await leadership.fencingToken();
    const other = await queued(ensemble.servers.find((server) => server !== victim)!.connectString);
    await victim.kill();
    await client!.reached('RECONNECTED');
    const again = await latch.awaitLeadership();
    expect([leadership.isHeld, again.isHeld, other.hasLeadership]).toEqual([false, true, false]);
    expect(await again.fencingToken()).toBe(token);
    await victim.restart();
  }, 60_000);

  async function serverWhich(role: 'leader' | 'follower'): Promise<ZooKeeperServer> {
    const leader = await ensemble.leader();
    if (role === 'leader') return leader;
    const [follower] = await eventually('all are back', async () => {
      const followers = await ensemble.followers();
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
