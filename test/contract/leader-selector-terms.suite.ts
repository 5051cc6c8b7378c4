import { expect, it, jest } from '@jest/globals';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import type { LeaderSelector } from '../../lib/core/election/leader-selector.js';
import { LeaderSelectorReign } from './leader-selector-reign.js';
import { Deferred } from '../support/deferred.js';
import { eventually } from '../support/eventually.js';
import { eventsOf } from './events-of.js';
import { expectLost } from './expect-lost.js';
import type { Stage } from './stage.js';
import type { Lease } from '../../lib/core/lease.js';

/** Terms of leadership while nothing goes wrong but the leader. */
export function leaderSelectorTermsSuite(stage: () => Stage): void {
  const nodesBecome = (count: number) =>
    eventually(`${count} nodes`, async () => (await stage().nodes()).length === count);

  it('leads by the first node for as long as its function runs', async () => {
    const { mine, key, stranger } = stage();
    const reign = new LeaderSelectorReign();
    const heard = eventsOf(mine);
    const selector = mine.locks.leaderSelector(key, reign.leads());
    expect([selector.key, selector.hasLeadership]).toEqual([key, false]);
    selector.start();
    const leadership = await reign.begun(1);
    expect([selector.hasLeadership, leadership.isHeld, leadership.key]).toEqual([true, true, key]);
    const [node] = await stage().contenders();
    expect(node).toMatch(/_c_[0-9a-f-]{36}-lock-\d{10}$/);
    const stat = await stranger.exists(node!);
    expect(await leadership.fencingToken()).toBe(BigInt(stat!.czxid));
    reign.end();
    await nodesBecome(0);
    expect([selector.hasLeadership, leadership.isHeld]).toEqual([false, false]);
    expect(leadership.signal.aborted).toBe(false);
    await stage().caughtUp(mine);
    expect(heard.map(({ kind }) => kind)).toEqual(['acquired', 'released']);
  });

  it('runs its function in the scope of the leadership', async () => {
    const { mine, key } = stage();
    const seen: (Lease | undefined)[] = [];
    const isDone = new Deferred();
    const selector = mine.locks.leaderSelector(key, async (leadership) => {
      seen.push(leadership as Lease, currentLease());
      await stage().caughtUp(mine);
      seen.push(currentLease());
      isDone.resolve();
    });
    selector.start();
    await isDone.promise;
    expect(seen[1]).toBe(seen[0]);
    expect(seen[2]).toBe(seen[0]);
    expect(currentLease()).toBeUndefined();
  });

  it('removes its node, and warns with the reason, when its function fails (Curator: testInterruption)', async () => {
    const { mine, theirs, key } = stage();
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    try {
      const reign = new LeaderSelectorReign();
      const isWaiting = new Deferred();
      const failing = mine.locks.leaderSelector(key, async () => {
        await isWaiting.promise;
        throw new Error('out of ink');
      });
      const next = theirs.locks.leaderSelector(key, reign.leads());
      const heard = eventsOf(mine);
      failing.start();
      await nodesBecome(1);
      next.start();
      await nodesBecome(2);
      isWaiting.resolve();
      await reign.begun(1);
      expect(warn.mock.calls).toEqual([[expect.stringMatching(/leader of .*out of ink/)]]);
      await eventually('it is over', () => heard.length === 2);
      expect(heard.map(({ kind }) => kind)).toEqual(['acquired', 'released']);
      expect([failing.hasLeadership, next.hasLeadership]).toEqual([false, true]);
      await failing.close();
      await next.close();
      expect(warn).toHaveBeenCalledTimes(1);
    } finally {
      warn.mockRestore();
    }
  });

  it('signals an interruption to its function; others lead once that has ended (Curator: testInterruptLeadership)', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const told = new Deferred();
    const mayEnd = new Deferred();
    const selector = mine.locks.leaderSelector(key, async ({ signal }) => {
      signal.addEventListener('abort', () => told.resolve());
      await mayEnd.promise;
    });
    selector.start();
    await eventually('it leads', () => selector.hasLeadership);
    theirs.locks.leaderSelector(key, reign.leads()).start();
    await nodesBecome(2);
    selector.interruptLeadership();
    await told.promise;
    expect([selector.hasLeadership, selector.requeue()]).toEqual([false, false]);
    await stage().caughtUp(theirs);
    expect(reign.leaderships).toHaveLength(0);
    mayEnd.resolve();
    await reign.begun(1);
    expect(selector.hasLeadership).toBe(false);
  });

  it('leads again after an interruption if it queues by itself (Curator: testInterruptLeadershipWithRequeue)', async () => {
    const { mine, key } = stage();
    const reign = new LeaderSelectorReign();
    const selector = mine.locks.leaderSelector(key, reign.leads(), { autoRequeue: true });
    selector.start();
    const first = await reign.begun(1);
    const token = await first.fencingToken();
    selector.interruptLeadership();
    expectLost(first as Lease);
    const second = await reign.begun(2);
    expect([first.isHeld, second.isHeld]).toEqual([false, true]);
    expect(await second.fencingToken()).toBeGreaterThan(token);
    await selector.close();
    await nodesBecome(0);
    expect(reign.most).toBe(1);
  });

  it('leads again and again if it queues by itself, with greater tokens (Curator: testAutoRequeue)', async () => {
    const { mine, key } = stage();
    const tokens: bigint[] = [];
    const selector = mine.locks.leaderSelector(
      key,
      async (leadership) => void tokens.push(await leadership.fencingToken()),
      { autoRequeue: true },
    );
    selector.start();
    await eventually('it has led three times', () => tokens.length >= 3);
    expect(selector.requeue()).toBe(false);
    await selector.close();
    const { length } = tokens;
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)));
    await nodesBecome(0);
    await stage().caughtUp(mine);
    expect(tokens).toHaveLength(length);
  });

  it('leads once for each time that it is queued', async () => {
    const { mine, key } = stage();
    const answers: boolean[] = [];
    let led = 0;
    const selector: LeaderSelector = mine.locks.leaderSelector(key, () => {
      answers.push(selector.requeue()); // not in here: it leads already
      led += 1;
    });
    expect(selector.requeue()).toBe(false);
    selector.start();
    expect(selector.requeue()).toBe(false);
    for (let time = 1; time <= 3; time++) {
      await eventually(`it has led ${time} times`, () => led === time);
      if (time < 3) await eventually('it may queue again', () => selector.requeue());
    }
    await nodesBecome(0);
    expect([led, answers]).toEqual([3, [false, false, false]]);
  });

  it('takes turns with the others: each leads once in a round (Curator: testRotatingLeadership)', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const selectors = names.map((name, n) => {
      const { locks } = n % 2 === 0 ? mine : theirs;
      return locks.leaderSelector(key, reign.leads(name), { id: name });
    });
    for (const selector of selectors) selector.start();
    for (let round = 0; round < 3; round++) {
      await nodesBecome(names.length);
      for (const turn of names.keys()) {
        const begun = round * names.length + turn + 1;
        await reign.begun(begun);
        expect(selectors.filter(({ hasLeadership }) => hasLeadership)).toHaveLength(1);
        reign.end();
      }
      for (const selector of round < 2 ? selectors : [])
        await eventually('it may queue again', () => selector.requeue());
    }
    for (const round of [0, 1, 2]) {
      const leaders = reign.leaders.slice(round * names.length, (round + 1) * names.length);
      expect([...leaders].sort()).toEqual(names);
    }
    expect(reign.most).toBe(1);
  });
}
