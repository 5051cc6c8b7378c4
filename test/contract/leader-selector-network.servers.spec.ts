import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type {
  LeaderSelector,
  LeaderSelectorOptions,
} from '../../lib/core/election/leader-selector.js';
import type { Lease } from '../../lib/core/lease.js';
import { TestClient } from '../faults/support/test-client.js';
import { attachSession } from '../support/zookeeper-session.js';
import { eventually } from '../support/time.js';
import { FaultProxy, OpCode } from '../support/zookeeper-proxy.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { expectLost } from './backends/leases.js';
import { LeaderSelectorReign } from './backends/recipes.js';

/** Curator's TestLeaderSelectorEdges, and the cases of TestLeaderSelector in which a session ends of silence. */
describe('A leader selector behind a bad network', () => {
  let server: ZooKeeperServer;
  let proxy: FaultProxy;
  /** The client behind the bad network. */
  let client: TestClient;
  /** The client with a good network. */
  let other: TestClient;
  let reign: LeaderSelectorReign;
  let path: string;

  const selectorOf = (
    { locks }: TestClient,
    who: string,
    options?: LeaderSelectorOptions,
  ): LeaderSelector => locks.leaderSelector(path, reign.leads(who), options);

  beforeAll(async () => {
    server = await ZooKeeperServer.start({ containerCheckIntervalMs: 600_000 }); // keeps empty directories
    proxy = await FaultProxy.start(server);
    other = await TestClient.connect(server.connectString);
  });
  afterAll(async () => {
    await other.locks.close();
    proxy.stop();
    await server.stop();
  });

  beforeEach(async () => {
    path = `/locks/${randomUUID()}`;
    reign = new LeaderSelectorReign();
    client = await TestClient.connect(proxy.connectString, { sessionTimeout: 3_000 });
  });
  afterEach(async () => {
    await proxy.accept();
    proxy.cut(); // first: the driver blocks in close() until it is answered, and the proxy lives on this event loop
    await client.locks.close();
    await other.queue(path, 0);
  });

  /** Cuts the connection of `client` at its next such request in the directory of this test. */
  function cut(when: 'before' | 'after', operation: keyof typeof OpCode): Promise<unknown> {
    const trap = when === 'before' ? proxy.cutBefore : proxy.cutAfter;
    return trap.call(
      proxy,
      (request) => request.opcode === OpCode[operation] && request.path.startsWith(path),
    );
  }

  /** The directory is there then. */
  async function prepare(): Promise<void> {
    const first = selectorOf(other, 'nobody');
    first.start();
    await reign.begun(1);
    await first.close();
    await other.queue(path, 0);
    reign = new LeaderSelectorReign();
  }

  const cuts = (['create', 'getChildren', 'getData'] as const).flatMap((operation) => [
    ['before', operation] as const,
    ['after', operation] as const,
  ]);

  it.each(cuts)(
    'that breaks %s its %s leads by one node, and leaves none (Curator: flappingTest)',
    async (when, operation) => {
      await prepare();
      const isCut = cut(when, operation);
      const selector = selectorOf(client, 'mine');
      selector.start();
      await isCut;
      const leadership = await reign.begun(1);
      expect(client.states).toEqual(['SUSPENDED', 'RECONNECTED']); // never before it was back
      const [node] = await other.queue(path, 1);
      expect(await other.connection.exists(`${path}/${node}`)).toMatchObject({
        ephemeralOwner: client.connection.session!.id,
        czxid: Number(await leadership.fencingToken()),
      });
      reign.end();
      await other.queue(path, 0);
      const next = selectorOf(other, 'theirs');
      next.start();
      await reign.begun(2);
      await next.close();
      expect(reign.leaders).toEqual(['mine', 'theirs']);
    },
  );

  it.each(cuts)(
    'that breaks %s its %s leaves no node when it is closed then',
    async (when, operation) => {
      await prepare();
      const isCut = cut(when, operation);
      const selector = selectorOf(client, 'mine');
      selector.start();
      await isCut;
      await selector.close();
      await client.reached('RECONNECTED');
      await other.queue(path, 0);
      expect([selector.hasLeadership, reign.leaders.length]).toEqual([false, 0]);
    },
  );

  it.each(['before', 'after'] as const)(
    'that breaks %s the delete of its node keeps none',
    async (when) => {
      const isCut = cut(when, 'delete');
      const selector = selectorOf(client, 'mine');
      selector.start();
      await reign.begun(1);
      reign.end();
      await isCut;
      await other.queue(path, 0);
    },
  );

  it.each(['standard', 'session'] as const)(
    'that takes its session takes the leadership, with errorPolicy %s (Curator: testServerDying)',
    async (errorPolicy) => {
      const selector = selectorOf(client, 'mine', { errorPolicy });
      selector.start();
      const leadership = await reign.begun(1);
      const lostIn: unknown[] = [];
      leadership.signal.addEventListener('abort', () => lostIn.push(client.connection.state));
      selectorOf(other, 'theirs').start();
      await other.queue(path, 2);
      proxy.refuse();
      proxy.cut();
      await client.reached('LOST');
      expectLost(leadership as Lease);
      expect(lostIn).toEqual([errorPolicy === 'session' ? 'LOST' : 'SUSPENDED']);
      await reign.begun(2);
      expect([selector.hasLeadership, reign.most]).toEqual([false, 1]);
      reign.end();
      await other.queue(path, 0);
    },
  );

  it('that takes its session between the grant and the leadership lets it lead by another node only (Curator: testRaceAtStateChanged)', async () => {
    const selector = selectorOf(client, 'mine');
    const stop = client.locks.on('acquired', () => {
      stop();
      proxy.refuse();
      proxy.cut();
    });
    selector.start();
    const [first] = await other.queue(path, 1);
    await client.reached('LOST');
    expect([selector.hasLeadership, reign.leaders.length]).toEqual([false, 0]);
    await proxy.accept();
    await reign.begun(1);
    const [second] = await other.queue(path, 1);
    expect(second).not.toBe(first);
    reign.end();
    await other.queue(path, 0);
  });

  it('that takes its session does not let it lead by the node of that session (CURATOR-696)', async () => {
    const leading = selectorOf(other, 'theirs');
    leading.start();
    await reign.begun(1);
    const waiting = selectorOf(client, 'mine');
    waiting.start();
    const [, stale] = await other.queue(path, 2);

    // It is cut off and gives its session up, but the server goes on hearing of that session.
    proxy.refuse();
    const session = await attachSession(server, client.connection.session!);
    await client.reached('LOST');
    await proxy.accept();
    await other.queue(path, 3); // its old place is still ahead of its new one
    reign.end();
    expect((await other.queue(path, 2))[0]).toBe(stale);
    await client.connection.sync('/');
    await client.connection.exists('/'); // it has dealt with every event that it was sent
    expect([waiting.hasLeadership, reign.leaders.length]).toEqual([false, 1]);

    session.close();
    await reign.begun(2);
    expect(await other.queue(path, 1)).not.toContain(stale);
    await eventually('it leads', () => waiting.hasLeadership);
    reign.end();
    await other.queue(path, 0);
  });
});
