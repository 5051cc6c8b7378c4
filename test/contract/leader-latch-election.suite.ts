import { describe, expect, it } from '@jest/globals';
import { hostname } from 'node:os';
import { LockAbortedError, LockTimeoutError } from '../../lib/core/errors/index.js';
import type { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import { CriticalSection } from '../integration/support/critical-section.js';
import { isSettled } from '../support/is-settled.js';
import { LeaderLatchStage } from './leader-latch-stage.js';
import type { Stage } from './stage.js';

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';
const NODE = new RegExp(`/_c_${UUID}-latch-\\d{10}$`);

/** One leader at a time, and the participants. */
export function leaderLatchElectionSuite(stage: () => Stage): void {
  const latches = new LeaderLatchStage(stage);

  it('one after the other, in the order in which they started (Curator: testBasic)', async () => {
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
