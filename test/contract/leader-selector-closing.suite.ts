import { expect, it } from '@jest/globals';
import { ElectionClosedError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { Deferred } from '../support/deferred.js';
import { eventually } from '../support/eventually.js';
import { isSettled } from '../support/is-settled.js';
import { expectLost } from './expect-lost.js';
import { LeaderSelectorReign } from './leader-selector-reign.js';
import type { Stage } from './stage.js';

/** The end of a selector, and of its client. */
export function leaderSelectorClosingSuite(stage: () => Stage): void {
  const nodesBecome = (count: number) =>
    eventually(`${count} nodes`, async () => (await stage().nodes()).length === count);

  it('of one that waits changes nothing, of the one that leads ends its leadership (Curator: testClosing)', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const leading = mine.locks.leaderSelector(key, reign.leads('mine'));
    const waiting = theirs.locks.leaderSelector(key, reign.leads('theirs'));
    leading.start();
    const leadership = await reign.begun(1);
    waiting.start();
    await nodesBecome(2);
    await waiting.close();
    await nodesBecome(1);
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
    await nodesBecome(2);
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
    await nodesBecome(0);
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
    await nodesBecome(2);
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
    await nodesBecome(2);
    mine.locks.refuse();
    await nodesBecome(1);
    await waiting.close();
    await mine.locks.close(20_000);
    await leading.close();
    expect(reign.leaders).toEqual(['theirs']);
    expect(await stage().nodes()).toEqual([]);
  });
}
