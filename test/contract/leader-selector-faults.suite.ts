import { expect, it } from '@jest/globals';
import type { LeaderSelector } from '../../lib/core/election/leader-selector.js';
import type { Lease } from '../../lib/core/lease.js';
import { eventually } from '../support/eventually.js';
import { expectLost } from './expect-lost.js';
import { LeaderSelectorReign } from './leader-selector-reign.js';
import type { Stage } from './stage.js';

/** What befalls leaders, and the selectors that stand behind them. */
export function leaderSelectorFaultsSuite(stage: () => Stage): void {
  const nodesBecome = (count: number) =>
    eventually(`${count} nodes`, async () => (await stage().nodes()).length === count);

  it('lead no longer while the connection is interrupted (Curator: testErrorPolicies)', async () => {
    const { mine, key } = stage();
    const reign = new LeaderSelectorReign();
    const selector = mine.locks.leaderSelector(key, reign.leads());
    selector.start();
    const leadership = await reign.begun(1);
    await stage().down();
    expectLost(leadership as Lease);
    expect(leadership.signal.reason.message).toMatch(/SUSPENDED/);
    expect(selector.hasLeadership).toBe(false);
    await stage().up();
    await nodesBecome(0);
    expect(reign.leaderships).toHaveLength(1);
  });

  it("lead on over an interruption with errorPolicy: 'session', to the end of that (Curator: testErrorPolicies)", async () => {
    const { mine, key } = stage();
    const reign = new LeaderSelectorReign();
    const selector = mine.locks.leaderSelector(key, reign.leads(), { errorPolicy: 'session' });
    selector.start();
    const leadership = await reign.begun(1);
    await stage().down();
    expect([leadership.isHeld, leadership.signal.aborted]).toEqual([true, false]);
    await stage().up();
    await stage().caughtUp(mine);
    expect([selector.hasLeadership, leadership.signal.aborted]).toEqual([true, false]);
    expect(await stage().nodes()).toHaveLength(1);

    await stage().expire(mine);
    expectLost(leadership as Lease);
    expect(leadership.signal.reason.message).toMatch(/session|node/);
    expect([selector.hasLeadership, reign.leaderships.length]).toEqual([false, 1]);
  });

  it('leave no node when they are interrupted while the servers are away (Curator: testLeaderNodeDeleteOnInterrupt)', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const policy = { errorPolicy: 'session' } as const;
    const selector = mine.locks.leaderSelector(key, reign.leads('mine'), policy);
    selector.start();
    const leadership = await reign.begun(1);
    await stage().down();
    selector.interruptLeadership();
    expectLost(leadership as Lease);
    await stage().up();
    await nodesBecome(0);
    theirs.locks.leaderSelector(key, reign.leads('theirs')).start();
    await reign.begun(2);
    expect(reign.leaders).toEqual(['mine', 'theirs']);
  });

  it('may queue again at once after an interruption, and lead when the servers are back', async () => {
    const { mine, key } = stage();
    const reign = new LeaderSelectorReign();
    const selector = mine.locks.leaderSelector(key, reign.leads());
    selector.start();
    const token = await (await reign.begun(1)).fencingToken();
    await stage().down();
    await eventually('it may queue again', () => selector.requeue());
    await stage().up();
    const second = await reign.begun(2);
    expect(await second.fencingToken()).toBeGreaterThan(token);
    await nodesBecome(1);
    expect(selector.hasLeadership).toBe(true);
  });

  it('never lead while the connection is interrupted between the grant and that (Curator: testRaceAtStateChanged)', async () => {
    const { mine, key } = stage();
    const reign = new LeaderSelectorReign();
    const selector = mine.locks.leaderSelector(key, reign.leads());
    let elected = 0;
    mine.locks.on('acquired', () => {
      if (elected++ === 0) stage().freeze(); // the servers confirm it no more
    });
    selector.start();
    await eventually('it is elected', () => elected === 1);
    await stage().down();
    expect([selector.hasLeadership, reign.leaderships.length]).toEqual([false, 0]);
    await stage().up();
    await reign.begun(1);
    expect([selector.hasLeadership, elected]).toEqual([true, 1]); // it has kept its place
    expect(await stage().nodes()).toHaveLength(1);
  });

  it.each(['standard', 'session'] as const)(
    'lose the leadership to others with their session (%s), and do not lead by its node again',
    async (errorPolicy) => {
      const { mine, theirs, key } = stage();
      const reign = new LeaderSelectorReign();
      const [first, second] = [mine, theirs].map(({ locks }, n) =>
        locks.leaderSelector(key, reign.leads(`${n}`), { errorPolicy, autoRequeue: n === 0 }),
      );
      first!.start();
      const leadership = await reign.begun(1);
      second!.start();
      await nodesBecome(2);
      const token = await leadership.fencingToken();
      await stage().expire(mine);
      expectLost(leadership as Lease);
      expect(await (await reign.begun(2)).fencingToken()).toBeGreaterThan(token);
      await nodesBecome(2); // it stands again, behind
      expect([first!.hasLeadership, second!.hasLeadership]).toEqual([false, true]);
      reign.end();
      await reign.begun(3);
      expect(reign.leaders).toEqual(['0', '1', '0']);
    },
  );

  it('lose the leadership to others when another client deletes their node', async () => {
    const { mine, theirs, key, stranger } = stage();
    const reign = new LeaderSelectorReign();
    const [first, second] = [mine, theirs].map(({ locks }, n) =>
      locks.leaderSelector(key, reign.leads(`${n}`)),
    );
    first!.start();
    const leadership = await reign.begun(1);
    second!.start();
    await nodesBecome(2);
    const [node] = await stage().contenders();
    await stranger.delete(node!);
    await reign.begun(2);
    await eventually('it knows', () => leadership.signal.aborted);
    expectLost(leadership as Lease);
    expect([first!.hasLeadership, second!.hasLeadership]).toEqual([false, true]);
    await nodesBecome(1);
  });

  it('stand again when another client deletes the node that they wait by', async () => {
    const { mine, theirs, key, stranger } = stage();
    const reign = new LeaderSelectorReign();
    mine.locks.leaderSelector(key, reign.leads('mine')).start();
    await reign.begun(1);
    theirs.locks.leaderSelector(key, reign.leads('theirs')).start();
    await nodesBecome(2);
    const [, node] = await stage().contenders();
    await stranger.delete(node!);
    await eventually('there is another one', async () => {
      const nodes = await stage().contenders();
      return nodes.length === 2 && !nodes.includes(node!);
    });
    expect(reign.leaders).toEqual(['mine']);
    reign.end();
    await reign.begun(2);
    expect(reign.leaders).toEqual(['mine', 'theirs']);
  });

  it('lead one after the other after the end of their session (Curator: testKillSessionThenCloseShouldElectNewLeader)', async () => {
    const { mine, key } = stage();
    const reign = new LeaderSelectorReign();
    const selectors = [0, 1].map((n) => mine.locks.leaderSelector(key, reign.leads(`${n}`)));
    for (const selector of selectors) selector.start();
    const leadership = await reign.begun(1);
    await nodesBecome(2);
    await stage().expire(mine);
    expectLost(leadership as Lease);

    await eventually('both stand', async () => {
      for (const selector of selectors) selector.requeue(); // which one that stands refuses
      return (await stage().nodes()).length === 2;
    });
    const leads = ({ hasLeadership }: LeaderSelector) => hasLeadership;
    const leader = await eventually('one leads', () => selectors.find(leads));
    expect(selectors.filter(leads)).toHaveLength(1);
    await leader.close();
    const next = await eventually('the other one leads', () => selectors.find(leads));
    expect(next).not.toBe(leader);
    await next.close();
    expect([await stage().nodes(), reign.most]).toEqual([[], 1]);
  });

  it('lead one after the other after a restart of the servers (Curator: testKillServerThenCloseShouldElectNewLeader)', async () => {
    const { mine, key } = stage();
    const reign = new LeaderSelectorReign();
    const selectors = [0, 1].map((n) =>
      mine.locks.leaderSelector(key, reign.leads(`${n}`), { autoRequeue: true }),
    );
    for (const selector of selectors) selector.start();
    const leadership = await reign.begun(1);
    await nodesBecome(2);
    await stage().down();
    expectLost(leadership as Lease);
    await stage().up();
    await reign.begun(2);
    await nodesBecome(2);
    const leaders = selectors.filter(({ hasLeadership }) => hasLeadership);
    expect(leaders).toHaveLength(1);
    await leaders[0]!.close();
    await reign.begun(3);
    const [other] = selectors.filter((selector) => selector !== leaders[0]);
    expect(other!.hasLeadership).toBe(true);
    await other!.close();
    expect([await stage().nodes(), reign.most]).toEqual([[], 1]);
  });
}
