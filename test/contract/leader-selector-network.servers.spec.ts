import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type {
  LeaderSelector,
  LeaderSelectorOptions,
} from '../../lib/core/election/leader-selector.js';
import type { Lease } from '../../lib/core/lease.js';
import type { TestClient } from '../faults/support/test-client.js';
import { attachSession } from '../support/zookeeper-session.js';
import { eventually } from '../support/time.js';
import { onBadNetwork } from './backends/bad-network.js';
import { expectLost } from './backends/leases.js';
import { LeaderSelectorReign } from './backends/recipes.js';

/** Curator's TestLeaderSelectorEdges, and the cases of TestLeaderSelector in which a session ends of silence. */
describe('A leader selector behind a bad network', () => {
  const net = onBadNetwork({ sessionTimeout: 3_000 });
  let reign: LeaderSelectorReign;

  const selectorOf = (
    { locks }: TestClient,
    who: string,
    options?: LeaderSelectorOptions,
  ): LeaderSelector => locks.leaderSelector(net.path, reign.leads(who), options);

  beforeEach(() => void (reign = new LeaderSelectorReign()));
  afterEach(() => net.other.queue(net.path, 0));

  /** The directory is there then. */
  async function prepare(): Promise<void> {
    const first = selectorOf(net.other, 'nobody');
    first.start();
    await reign.begun(1);
    await first.close();
    await net.other.queue(net.path, 0);
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
      const isCut = net.cut(when, operation);
      const selector = selectorOf(net.client, 'mine');
      selector.start();
      await isCut;
      const leadership = await reign.begun(1);
      expect(net.client.states).toEqual(['SUSPENDED', 'RECONNECTED']); // never before it was back
      const [node] = await net.other.queue(net.path, 1);
      expect(await net.other.connection.exists(`${net.path}/${node}`)).toMatchObject({
        ephemeralOwner: net.client.connection.session!.id,
        czxid: Number(await leadership.fencingToken()),
      });
      reign.end();
      await net.other.queue(net.path, 0);
      const next = selectorOf(net.other, 'theirs');
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
      const isCut = net.cut(when, operation);
      const selector = selectorOf(net.client, 'mine');
      selector.start();
      await isCut;
      await selector.close();
      await net.client.reached('RECONNECTED');
      await net.other.queue(net.path, 0);
      expect([selector.hasLeadership, reign.leaders.length]).toEqual([false, 0]);
    },
  );

  it.each(['before', 'after'] as const)(
    'that breaks %s the delete of its node keeps none',
    async (when) => {
      const isCut = net.cut(when, 'delete');
      const selector = selectorOf(net.client, 'mine');
      selector.start();
      await reign.begun(1);
      reign.end();
      await isCut;
      await net.other.queue(net.path, 0);
    },
  );

  it.each(['standard', 'session'] as const)(
    'that takes its session takes the leadership, with errorPolicy %s (Curator: testServerDying)',
    async (errorPolicy) => {
      const selector = selectorOf(net.client, 'mine', { errorPolicy });
      selector.start();
      const leadership = await reign.begun(1);
      const lostIn: unknown[] = [];
      leadership.signal.addEventListener('abort', () => lostIn.push(net.client.connection.state));
      selectorOf(net.other, 'theirs').start();
      await net.other.queue(net.path, 2);
      net.proxy.refuse();
      net.proxy.cut();
      await net.client.reached('LOST');
      expectLost(leadership as Lease);
      expect(lostIn).toEqual([errorPolicy === 'session' ? 'LOST' : 'SUSPENDED']);
      await reign.begun(2);
      expect([selector.hasLeadership, reign.most]).toEqual([false, 1]);
      reign.end();
      await net.other.queue(net.path, 0);
    },
  );

  it('that takes its session between the grant and the leadership lets it lead by another node only (Curator: testRaceAtStateChanged)', async () => {
    const selector = selectorOf(net.client, 'mine');
    const stop = net.client.locks.on('acquired', () => {
      stop();
      net.proxy.refuse();
      net.proxy.cut();
    });
    selector.start();
    const [first] = await net.other.queue(net.path, 1);
    await net.client.reached('LOST');
    expect([selector.hasLeadership, reign.leaders.length]).toEqual([false, 0]);
    await net.proxy.accept();
    await reign.begun(1);
    const [second] = await net.other.queue(net.path, 1);
    expect(second).not.toBe(first);
    reign.end();
    await net.other.queue(net.path, 0);
  });

  it('that takes its session does not let it lead by the node of that session (CURATOR-696)', async () => {
    const leading = selectorOf(net.other, 'theirs');
    leading.start();
    await reign.begun(1);
    const waiting = selectorOf(net.client, 'mine');
    waiting.start();
    const [, stale] = await net.other.queue(net.path, 2);

    // It is cut off and gives its session up, but the server goes on hearing of that session.
    net.proxy.refuse();
    const session = await attachSession(net.server, net.client.connection.session!);
    await net.client.reached('LOST');
    await net.proxy.accept();
    await net.other.queue(net.path, 3); // its old place is still ahead of its new one
    reign.end();
    expect((await net.other.queue(net.path, 2))[0]).toBe(stale);
    await net.client.connection.sync('/');
    await net.client.connection.exists('/'); // it has dealt with every event that it was sent
    expect([waiting.hasLeadership, reign.leaders.length]).toEqual([false, 1]);

    session.close();
    await reign.begun(2);
    expect(await net.other.queue(net.path, 1)).not.toContain(stale);
    await eventually('it leads', () => waiting.hasLeadership);
    reign.end();
    await net.other.queue(net.path, 0);
  });
});
