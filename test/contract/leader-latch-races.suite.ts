import { expect, it } from '@jest/globals';
import { isSettled } from '../support/is-settled.js';
import { Client } from './client.js';
import { LeaderLatchGate } from './leader-latch-gate.js';
import { LeaderLatchStage } from './leader-latch-stage.js';
import type { Stage } from './stage.js';

/** What happens while a request of the latch is under way. */
export function leaderLatchRacesSuite(stage: () => Stage): void {
  const latches = new LeaderLatchStage(stage);

  it('the leader closes after the candidate has seen it, before it watches it (Curator: testLeadershipElectionWhenNodeDisappearsAfterChildrenAreRetrieved)', async () => {
    const { mine, theirs } = stage();
    const leader = await latches.leading(mine);
    const [first] = await latches.areQueued(1);
    await withGate(async (client, gate) => {
      const watching = gate.keep(({ op, path }) => op === 'getData' && path === first);
      const candidate = latches.started(client);
      await watching;
      const behind = await latches.queued(theirs);
      await leader.close();
      await latches.areQueued(2);
      gate.letGo();
      expect(await latches.leaderOf([candidate, behind])).toBe(candidate);
      await stage().caughtUp(theirs);
      expect(behind.hasLeadership).toBe(false);
      await candidate.close();
      await behind.awaitLeadership();
    });
  });

  it('the leader closes, and the node of the candidate is deleted: one is left (Curator: testWatchedNodeDeletedOnReconnect)', async () => {
    const { mine, stranger } = stage();
    const leader = await latches.leading(mine);
    const [first] = await latches.areQueued(1);
    await withGate(async (client, gate) => {
      const watching = gate.keep(({ op, path }) => op === 'getData' && path === first);
      const candidate = latches.started(client);
      await watching;
      const [, own] = await latches.areQueued(2);
      await leader.close();
      await stranger.delete(own!);
      gate.letGo();
      await candidate.awaitLeadership();
      const [node] = await latches.areQueued(1);
      expect(node).not.toBe(own);
    });
  });

  it('it closes while its node is made: none is left (Curator: testCreateDeleteRace)', async () => {
    await (await latches.leading(stage().mine)).close(); // makes the directory
    await withGate(async (client, gate) => {
      const making = gate.keep(({ op }) => op === 'create');
      const latch = latches.started(client);
      await making;
      await latch.close();
      gate.letGo();
      await stage().caughtUp(client);
      await latches.areQueued(0);
    });
  });

  it('its node is deleted before the servers have confirmed it: it leads by another one', async () => {
    await withGate(async (client, gate) => {
      const confirming = gate.keep(({ op }) => op === 'getData');
      const latch = latches.of(client);
      const told = latches.toldBy(latch);
      latch.start();
      await confirming;
      const [node] = await latches.areQueued(1);
      const waiting = latch.awaitLeadership();
      expect([latch.hasLeadership, await isSettled(waiting)]).toEqual([false, false]);
      await stage().stranger.delete(node!);
      gate.letGo();
      await waiting;
      expect(told).toEqual(['leads']);
      const [another] = await latches.areQueued(1);
      expect(another).not.toBe(node);
    });
  });

  it('it closes before the servers have confirmed its node: at once, and it never led', async () => {
    await withGate(async (client, gate) => {
      const confirming = gate.keep(({ op }) => op === 'getData');
      const latch = latches.of(client);
      const told = latches.toldBy(latch);
      latch.start();
      await confirming;
      await latches.areQueued(1);
      const waiting = expect(latch.awaitLeadership()).rejects.toMatchObject({
        code: 'LOCK_ELECTION_CLOSED',
      });
      await latch.close('NOTIFY_LEADER');
      await waiting;
      await latches.areQueued(0);
      gate.letGo();
      await stage().caughtUp(client);
      expect(told).toEqual([]);
    });
  });

  /** With a client of which a request can be kept back. */
  async function withGate(work: (client: Client, gate: LeaderLatchGate) => Promise<void>) {
    const { transport, servers } = await stage().backend.connect();
    const gate = new LeaderLatchGate(transport);
    const client = new Client(gate, servers, {});
    await client.locks.connect();
    try {
      await work(client, gate);
    } finally {
      await client.locks.close();
    }
  }
}
