import { hostname } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import type { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import type { Leadership } from '../../lib/core/election/leader-term.js';
import { LockAbortedError, LockLostError, LockTimeoutError } from '../../lib/core/errors/index.js';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import { CriticalSection } from '../faults/support/leases.js';
import { Deferred, eventually, isSettled } from '../support/time.js';
import { LeaderLatchStage } from './backends/recipes.js';
import { type Deployment, onStage, useWarnings } from './backends/stage.js';
import { type Backend, type Client, Stage } from './backends/zookeeper.js';
import {
  leaderLatchClosingSuite,
  leaderLatchInputSuite,
  leaderLatchRacesSuite,
} from './leader-latch-closing.suite.js';
import {
  leaderLatchFaultsSuite,
  leaderLatchOfflineSuite,
  leaderLatchOutagesSuite,
} from './leader-latch-faults.suite.js';

/** Everything that a leader latch promises on ZooKeeper; with the cases of Curator's TestLeaderLatch and TestLeaderAcls. */
export function leaderLatchSuite(on: Deployment<Backend>): void {
  describe(`A leader latch on ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend()));
    on.part('elects', 'deployment', () => leaderLatchElectionSuite(stage));
    on.part('notifies its listeners', 'client', () => leaderLatchListenersSuite(stage));
    on.part('closes', 'server', () => leaderLatchClosingSuite(stage));
    on.part('when nodes and permissions go', 'server', () => leaderLatchFaultsSuite(stage));
    on.part('when servers and sessions go', 'recipe', () => leaderLatchOutagesSuite(stage));
    on.part('while there are no servers', 'client', () => leaderLatchOfflineSuite(stage));
    on.part('when two things happen at once', 'server', () => leaderLatchRacesSuite(stage));
    on.part('refuses', 'client', () => leaderLatchInputSuite(stage));
  });
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const NODE = new RegExp(`/_c_${UUID}-latch-\\d{10}$`);

/** One leader at a time, and the participants. */
function leaderLatchElectionSuite(stage: () => Stage): void {
  const latches = new LeaderLatchStage(stage);

  it('one after the other, in the order in which they started (Curator: TestLeaderLatch testBasic)', async () => {
    const { mine, theirs } = stage();
    const all: LeaderLatch[] = [];
    for (const client of [mine, theirs, mine, mine, theirs, theirs])
      all.push(await latches.queued(client));
    for (const latch of all) {
      await latch.awaitLeadership();
      expect(all.filter(({ hasLeadership }) => hasLeadership)).toEqual([latch]);
      await latch.close();
      expect(latch.hasLeadership).toBe(false);
    }
  });

  it('one after the other, when they start at the same time (Curator: testBasicAlt)', async () => {
    const { mine, theirs } = stage();
    const rest = [mine, theirs, mine, theirs, mine].map((client) => latches.started(client));
    while (rest.length > 0) {
      const leader = await latches.leaderOf(rest);
      await leader.close();
      rest.splice(rest.indexOf(leader), 1);
    }
  });

  it('one at a time of the latches that wait for it, with a token that grows (Curator: testWaiting)', async () => {
    const { mine, theirs } = stage();
    const clients = [mine, theirs, await stage().client()];
    const section = new CriticalSection();
    const tokens: bigint[] = [];
    const lead = async (n: number) => {
      const client = clients[n % clients.length]!;
      const latch = latches.started(client);
      const leadership = await latch.awaitLeadership();
      section.enter(`latch ${n}`);
      tokens.push(await leadership.fencingToken());
      await client.connection.sync('/'); // a turn of the servers
      expect(leadership.isHeld).toBe(true);
      section.leave();
      await latch.close();
    };
    await Promise.all(Array.from({ length: 15 }, (_, n) => lead(n)));
    expect([section.most, section.visitors.length]).toEqual([1, 15]);
    const increasing = tokens.every((token, n) => n === 0 || token > tokens[n - 1]!);
    expect(increasing).toBe(true);
  });

  it('no other latch when one in the middle closes (Curator: testCorrectWatching)', async () => {
    const { mine, theirs } = stage();
    const all: LeaderLatch[] = [];
    for (const client of [mine, theirs, mine, theirs, mine]) all.push(await latches.queued(client));
    const leaders = () => all.filter(({ hasLeadership }) => hasLeadership);
    await all[2]!.close();
    await latches.areQueued(4);
    for (const client of [mine, theirs]) await stage().caughtUp(client);
    expect(leaders()).toEqual([all[0]]);
    for (const n of [0, 1, 3]) {
      expect(leaders()).toEqual([all[n]]);
      await all[n]!.close();
      const next = all[n === 1 ? 3 : n + 1]!;
      await next.awaitLeadership();
    }
    expect(leaders()).toEqual([all[4]]);
  });

  it('no leader where no latch stands, and makes no node to find that out (Curator: testUncreatedPathGetLeader)', async () => {
    const { mine, stranger, path } = stage();
    const latch = latches.of(mine);
    expect(latch.state).toBe('LATENT');
    expect(await latch.leader()).toBeUndefined();
    expect(await latch.participants()).toEqual([]);
    expect(await stranger.exists(path)).toBeUndefined();
  });

  it('with one node, however often it is started (Curator: testResetRace)', async () => {
    const latch = latches.started(stage().mine);
    latch.start();
    await latch.awaitLeadership();
    latch.start();
    await stage().caughtUp(stage().mine);
    expect(await stage().nodes()).toHaveLength(1);
    expect([latch.state, latch.hasLeadership]).toEqual(['STARTED', true]);
  });

  it('in public: every latch knows the participants, their order, and the leader', async () => {
    const { mine, theirs } = stage();
    const all = [await latches.queued(mine, { id: 'ann' }), await latches.queued(theirs)];
    all.push(await latches.queued(mine, { id: '' }), await latches.queued(theirs, { id: 'ann' }));
    const host = `${hostname()}:${process.pid}`;
    expect(all.map(({ id }) => id)).toEqual(['ann', host, '', 'ann']);
    const ids: string[][] = [];
    for (const latch of all) {
      const participants = await latches.of(theirs).participants();
      expect(participants.map(({ isLeader }) => isLeader)).toEqual(participants.map((_, n) => !n));
      expect(await latch.leader()).toEqual({ id: latch.id, isLeader: true });
      ids.push(participants.map(({ id }) => id));
      await latch.close();
      await latches.areQueued(all.length - ids.length);
      await stage().caughtUp(theirs);
      await stage().caughtUp(mine);
    }
    expect(ids).toEqual([['ann', host, '', 'ann'], [host, '', 'ann'], ['', 'ann'], ['ann']]);
  });

  it('by nodes that are named and filled as by Curator', async () => {
    const { mine, stranger } = stage();
    const latch = await latches.leading(mine, { id: 'größer' });
    await latches.queued(mine, { id: '' });
    const [leading, waiting] = await latches.areQueued(2);
    const { data, stat } = await stranger.getData(leading!);
    for (const node of [leading, waiting]) expect(node).toMatch(NODE);
    expect(data.toString()).toBe('größer');
    expect(stat.ephemeralOwner).toBe(mine.connection.session!.id);
    expect(await latch.leadership!.fencingToken()).toBe(BigInt(stat.czxid));
    expect((await stranger.getData(waiting!)).data).toHaveLength(0);
  });

  describe('and awaitLeadership()', () => {
    it('resolves for every caller to the same leadership', async () => {
      const latch = latches.of(stage().mine);
      const early = latch.awaitLeadership();
      expect(await isSettled(early)).toBe(false);
      latch.start();
      const found = await Promise.all([early, latch.awaitLeadership(), latch.awaitLeadership()]);
      expect(new Set([...found, await latch.awaitLeadership(), latch.leadership]).size).toBe(1);
      expect(found[0].key).toBe(stage().key);
    });

    it('ends on time, and the latch goes on', async () => {
      const { mine, theirs } = stage();
      const leader = await latches.leading(mine);
      const hurried = await stage().client({ wait: 20 });
      const latch = await latches.queued(theirs);
      const timeout = { code: 'LOCK_TIMEOUT', key: stage().key, client: 'contract' };
      await expect(latch.awaitLeadership({ wait: 20 })).rejects.toMatchObject(timeout);
      for (const options of [undefined, {}, { wait: undefined }]) {
        const hasty = latches.of(hurried).awaitLeadership(options);
        await expect(hasty).rejects.toBeInstanceOf(LockTimeoutError);
      }
      await leader.close();
      await latch.awaitLeadership();
    });

    it('ends with its signal, and the latch goes on', async () => {
      const { mine, theirs } = stage();
      const leader = await latches.leading(mine);
      const latch = await latches.queued(theirs);
      const patience = new AbortController();
      const { signal } = patience;
      const waiting = latch.awaitLeadership({ signal });
      patience.abort('enough');
      await expect(waiting).rejects.toMatchObject({ code: 'LOCK_ABORTED', cause: 'enough' });
      await expect(latch.awaitLeadership({ signal })).rejects.toBeInstanceOf(LockAbortedError);
      await leader.close();
      await latch.awaitLeadership();
    });
  });
}

const EACH = 4;

/** What the listeners are notified of, and when. */
function leaderLatchListenersSuite(stage: () => Stage): void {
  const warnings = useWarnings();

  const latches = new LeaderLatchStage(stage);

  it('of each leadership and each loss, and not of its own closing (Curator: testCallbackSanity)', async () => {
    const { mine, theirs } = stage();
    const turns = Array.from({ length: EACH }, (_, n) => leadTwice(n % 2 ? mine : theirs));
    for (const told of await Promise.all(turns)) expect(told).toEqual(['leads', 'lost', 'leads']);
  });

  it('outside of the locks of the callers that start or close it', async () => {
    const { mine, key } = stage();
    const latch = latches.of(mine);
    const scopes: unknown[] = [];
    latch.onLeadership(() => scopes.push(currentLease()));
    latch.onLeadershipLost(() => scopes.push(currentLease()));
    await mine.locks.mutex(`${key}-of-the-starter`).using(async () => {
      mine.locks.on('acquired', () => scopes.push(currentLease())); // of the election itself
      latch.start();
      await latch.awaitLeadership();
      await latch.close('NOTIFY_LEADER');
    });
    expect(scopes).toEqual([undefined, undefined, undefined]);
  });

  it('of its own closing, where it is closed with NOTIFY_LEADER (Curator: testCallbackNotifyLeader)', async () => {
    const { mine, theirs } = stage();
    const turns = Array.from({ length: EACH }, (_, n) =>
      leadTwice(n % 2 ? mine : theirs, n < 2 ? 'SILENT' : 'NOTIFY_LEADER'),
    );
    const silent = ['leads', 'lost', 'leads'];
    const notified = [...silent, 'lost'];
    expect(await Promise.all(turns)).toEqual([silent, silent, notified, notified]);
  });

  it('of no closing where it did not lead (Curator: testCallbackDontNotify)', async () => {
    const { mine, theirs } = stage();
    const [leader, waiting] = [await latches.leading(mine), await latches.queued(theirs)];
    const [byLeader, byWaiting] = [latches.toldBy(leader), latches.toldBy(waiting)];
    await waiting.close('NOTIFY_LEADER');
    await leader.close('NOTIFY_LEADER');
    await leader.close('NOTIFY_LEADER');
    expect([byLeader, byWaiting]).toEqual([['lost'], []]);
    expect([leader.state, waiting.state]).toEqual(['CLOSED', 'CLOSED']);
  });

  it('of the leadership, and of the reason of its loss, once its state shows it', async () => {
    const { mine, stranger, key } = stage();
    const latch = latches.of(mine);
    const begun = new Deferred<Leadership>();
    const ended = new Deferred<LockLostError | undefined>();
    latch.onLeadership((leadership) => {
      expect(latch.leadership).toBe(leadership);
      begun.resolve(leadership);
    });
    latch.onLeadershipLost((error) => {
      expect([latch.hasLeadership, latch.leadership]).toEqual([false, undefined]);
      ended.resolve(error);
    });
    latch.start();
    const { signal } = await begun.promise;
    const [node] = await latches.areQueued(1);
    await stranger.delete(node!);
    const error = await ended.promise;
    expect(error).toBeInstanceOf(LockLostError);
    expect(error).toMatchObject({
      key,
      client: 'contract',
      why: 'its node was deleted',
    });
    expect(signal.reason).toBe(error);
    await latch.awaitLeadership(); // by another node
  });

  it('as long as they listen, and not of the leadership that there is already', async () => {
    const { mine } = stage();
    const latch = await latches.leading(mine);
    const told: string[] = [];
    const stops = [
      latch.onLeadership(() => told.push('first leads')),
      latch.onLeadershipLost(() => told.push('first lost')),
    ];
    latch.onLeadership(() => told.push('second leads'));
    latch.onLeadershipLost(() => told.push('second lost'));
    await evict();
    await eventually('the listeners are called', () => told.includes('second leads'));
    expect(told).toEqual(['first lost', 'second lost', 'first leads', 'second leads']);
    for (const stop of stops) stop();
    told.length = 0;
    await evict();
    await eventually('the second listener is called again', () => told.includes('second leads'));
    expect(told).toEqual(['second lost', 'second leads']);
  });

  it('and warns of those that fail, which has no other effect', async () => {
    const { mine, theirs } = stage();
    const warn = warnings();
    const latch = latches.of(mine);
    latch.onLeadership(() => {
      throw new Error('it threw');
    });
    latch.onLeadership(() => Promise.reject(new Error('it rejected')));
    latch.onLeadershipLost(() => {
      throw new Error('it threw again');
    });
    const told = latches.toldBy(latch);
    latch.start();
    await latch.awaitLeadership();
    const next = await latches.queued(theirs);
    await latch.close('NOTIFY_LEADER');
    await next.awaitLeadership();
    expect(told).toEqual(['leads', 'lost']);
    const printed = warn.mock.calls.map(([message]) => String(message)).sort();
    const about = `A listener of the election ${JSON.stringify(stage().key)} failed: Error: `;
    const reasons = ['it rejected', 'it threw', 'it threw again'];
    expect(printed).toEqual(reasons.map((reason) => about + reason));
  });

  /** Another client deletes the leader's node. */
  async function evict(): Promise<void> {
    const [node] = await stage().queueIn(stage().path);
    await stage().stranger.delete(node!);
  }

  /** Starts a latch; its node is deleted when it leads first, and it closes when it leads again. Returns what it reports. */
  async function leadTwice(
    client: Client,
    mode?: 'SILENT' | 'NOTIFY_LEADER',
  ): Promise<readonly string[]> {
    const latch = latches.of(client);
    const told = latches.toldBy(latch);
    const closed = new Deferred();
    let hasLed = false;
    latch.onLeadership(async () => {
      if (hasLed) return closed.resolve(latch.close(mode));
      hasLed = true;
      return evict();
    });
    latch.start();
    await closed.promise;
    expect(latch.state).toBe('CLOSED');
    return told;
  }
}
