import { expect, it } from '@jest/globals';
import type { LeaderSelector } from '../../lib/core/election/leader-selector.js';
import { ElectionClosedError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { Deferred, eventually, isSettled } from '../support/time.js';
import { expectLost } from './backends/leases.js';
import { LeaderSelectorReign } from './backends/recipes.js';
import type { Stage } from './backends/zookeeper.js';

/** What befalls leaders, and the selectors that stand behind them. */
export function leaderSelectorFaultsSuite(stage: () => Stage): void {
  it('lead no longer while the connection is interrupted (Curator: TestLeaderSelector testErrorPolicies)', async () => {
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
    await stage().nodesBecome(0);
    expect(reign.leaderships).toHaveLength(1);
  });

  it("lead on over an interruption with errorPolicy: 'session', to the end of that (Curator: TestLeaderSelector testErrorPolicies)", async () => {
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
      await stage().nodesBecome(2);
      const token = await leadership.fencingToken();
      await stage().expire(mine);
      expectLost(leadership as Lease);
      expect(await (await reign.begun(2)).fencingToken()).toBeGreaterThan(token);
      await stage().nodesBecome(2); // it stands again, behind
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
    await stage().nodesBecome(2);
    const [node] = await stage().contenders();
    await stranger.delete(node!);
    await reign.begun(2);
    await eventually('it knows', () => leadership.signal.aborted);
    expectLost(leadership as Lease);
    expect([first!.hasLeadership, second!.hasLeadership]).toEqual([false, true]);
    await stage().nodesBecome(1);
  });

  it('stand again when another client deletes the node that they wait by', async () => {
    const { mine, theirs, key, stranger } = stage();
    const reign = new LeaderSelectorReign();
    mine.locks.leaderSelector(key, reign.leads('mine')).start();
    await reign.begun(1);
    theirs.locks.leaderSelector(key, reign.leads('theirs')).start();
    await stage().nodesBecome(2);
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
    await stage().nodesBecome(2);
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
    await stage().nodesBecome(2);
    await stage().down();
    expectLost(leadership as Lease);
    await stage().up();
    await reign.begun(2);
    await stage().nodesBecome(2);
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

/** What becomes of leaders that cannot reach a server. */
export function leaderSelectorOfflineSuite(stage: () => Stage): void {
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
    await stage().nodesBecome(0);
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
    await stage().nodesBecome(1);
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
}

/** The end of a selector, and of its client. */
export function leaderSelectorClosingSuite(stage: () => Stage): void {
  it('of one that waits changes nothing, of the one that leads ends its leadership (Curator: testClosing)', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const leading = mine.locks.leaderSelector(key, reign.leads('mine'));
    const waiting = theirs.locks.leaderSelector(key, reign.leads('theirs'));
    leading.start();
    const leadership = await reign.begun(1);
    waiting.start();
    await stage().nodesBecome(2);
    await waiting.close();
    await stage().nodesBecome(1);
    expect([leading.hasLeadership, waiting.hasLeadership]).toEqual([true, false]);
    await leading.close();
    expect([leading.hasLeadership, waiting.hasLeadership]).toEqual([false, false]);
    expectLost(leadership as Lease);
    expect(await stage().nodes()).toEqual([]);
    expect(reign.leaders).toEqual(['mine']);
  });

  it('hands the leadership on, once its function has ended', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const mayEnd = new Deferred();
    const leading = mine.locks.leaderSelector(key, () => mayEnd.promise);
    leading.start();
    await eventually('it leads', () => leading.hasLeadership);
    theirs.locks.leaderSelector(key, reign.leads()).start();
    await stage().nodesBecome(2);
    const closing = [leading.close(), leading.close()];
    await stage().caughtUp(theirs);
    expect([await isSettled(Promise.race(closing)), reign.leaders.length]).toEqual([false, 0]);
    mayEnd.resolve();
    await Promise.all(closing);
    await reign.begun(1);
    await leading.close();
  });

  it('is final', async () => {
    const { mine, key } = stage();
    const reign = new LeaderSelectorReign();
    const [early, late] = [1, 2].map(() => mine.locks.leaderSelector(key, reign.leads()));
    await early!.close(); // before start
    late!.start();
    await reign.begun(1);
    await late!.close();
    await late!.close();
    for (const selector of [early!, late!]) {
      expect(() => selector.start()).toThrow(ElectionClosedError);
      expect(() => selector.requeue()).toThrow(ElectionClosedError);
    }
    await stage().caughtUp(mine);
    expect([await stage().nodes(), reign.leaders.length]).toEqual([[], 1]);
  });

  it('at any time after its start leaves no node', async () => {
    const { mine, key } = stage();
    const reign = new LeaderSelectorReign();
    for (let turns = 0; turns < 12; turns++) {
      const selector = mine.locks.leaderSelector(key, reign.leads());
      selector.start();
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
      await selector.close();
      expect(selector.hasLeadership).toBe(false);
    }
    await stage().nodesBecome(0);
    expect(reign.leaderships.every(({ isHeld }) => !isHeld)).toBe(true);
  });

  it('of the client ends the leadership at once, and does not wait for its function', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const mayEnd = new Deferred();
    let signal: AbortSignal | undefined;
    const leading = mine.locks.leaderSelector(
      key,
      (leadership) => {
        ({ signal } = leadership);
        return mayEnd.promise;
      },
      { autoRequeue: true },
    );
    leading.start();
    await eventually('it leads', () => leading.hasLeadership);
    theirs.locks.leaderSelector(key, reign.leads()).start();
    await stage().nodesBecome(2);
    const closing = mine.locks.close(20_000);
    expect([signal!.aborted, leading.hasLeadership]).toEqual([true, false]);
    await closing;
    await reign.begun(1);
    mayEnd.resolve();
    await eventually('it is closed', () => {
      try {
        leading.start();
        return false;
      } catch (error) {
        return error instanceof ElectionClosedError;
      }
    });
    await leading.close();
    expect(await stage().nodes()).toHaveLength(1);
  });

  it('of the client ends the wait of the selectors that stand, for good', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const leading = theirs.locks.leaderSelector(key, reign.leads('theirs'));
    leading.start();
    await reign.begun(1);
    const waiting = mine.locks.leaderSelector(key, reign.leads('mine'), { autoRequeue: true });
    waiting.start();
    await stage().nodesBecome(2);
    mine.locks.refuse();
    await stage().nodesBecome(1);
    await waiting.close();
    await mine.locks.close(20_000);
    await leading.close();
    expect(reign.leaders).toEqual(['theirs']);
    expect(await stage().nodes()).toEqual([]);
  });
}
