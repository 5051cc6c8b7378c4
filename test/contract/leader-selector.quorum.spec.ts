import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Lease } from '../../lib/core/lease.js';
import { TestClient } from '../integration/support/test-client.js';
import { eventually } from '../support/eventually.js';
import { ZooKeeperEnsemble } from '../support/zookeeper-ensemble.js';
import { expectLost } from './expect-lost.js';
import { LeaderSelectorReign } from './leader-selector-reign.js';

/** Curator's TestLeaderSelectorCluster. */
describe('A leader selector on an ensemble that loses servers', () => {
  let ensemble: ZooKeeperEnsemble;
  let client: TestClient;
  let key = 0;

  beforeAll(async () => {
    ensemble = await ZooKeeperEnsemble.start({ containerCheckIntervalMs: 600_000 });
  }, 60_000);
  afterAll(() => ensemble.stop());
  beforeEach(async () => {
    key += 1;
    client = await connect();
  });
  afterEach(async () => {
    await Promise.all(
      ensemble.servers.filter(({ running }) => !running).map((server) => server.restart()),
    );
    await client.locks.close(20_000);
  }, 60_000);

  const connect = () => TestClient.connect(ensemble.connectString, { sessionTimeout: 6_000 });
  const serverOfClient = () => ensemble.serverOf(client.connection.session!.id);
  const nodes = () => client.children(`/locks/${key}`);

  it('goes on leading when the server that it is connected to is killed (Curator: testRestart)', async () => {
    const server = await eventually('a client of a server that follows', async () => {
      const [followers, its] = [await ensemble.followers(), await serverOfClient()];
      if (followers.includes(its!)) return its;
      await client.locks.close();
      client = await connect();
      return undefined;
    });
    let terms = 0;
    let left: string[] | undefined;
    const selector = client.locks.leaderSelector(
      `${key}`,
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
    const selector = client.locks.leaderSelector(`${key}`, reign.leads());
    selector.start();
    const leadership = await reign.begun(1);
    const [node, ...more] = await nodes();
    expect(more).toEqual([]);
    await Promise.all(ensemble.servers.map((server) => server.kill()));
    await client.reached('LOST');
    expectLost(leadership as Lease);
    expect([selector.hasLeadership, reign.leaders.length]).toEqual([false, 1]);

    expect(selector.requeue()).toBe(true);
    await Promise.all(ensemble.servers.map((server) => server.restart()));
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
