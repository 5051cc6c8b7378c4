import { expect, it, jest } from '@jest/globals';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import { ElectionClosedError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { Deferred } from '../support/deferred.js';
import { eventually } from '../support/eventually.js';
import { isSettled } from '../support/is-settled.js';
import { expectLost } from './expect-lost.js';
import { LeaderSelectorReign } from './leader-selector-reign.js';
import type { LockStage } from './lock-stage.js';

/** Leader selectors on Redis. */
export function leaderElectionSelectorsSuite(stage: () => LockStage): void {
  it('lets one lead after the other, each in the scope of its leadership', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const scopes: (Lease | undefined)[] = [];
    const selectors = [mine, theirs, await stage().client()].map(({ locks }, n) =>
      locks.leaderSelector(key, (leadership) => {
        scopes.push(currentLease());
        return reign.leads(`${n}`)(leadership);
      }),
    );
    for (const selector of selectors) selector.start();
    const tokens: bigint[] = [];
    for (let term = 1; term <= 3; term++) {
      tokens.push(await (await reign.begun(term)).fencingToken());
      expect(selectors.filter(({ hasLeadership }) => hasLeadership)).toHaveLength(1);
      reign.end();
    }
    await eventually('no participant leads', async () => (await stage().contenders()).length === 0);
    expect([...reign.leaders].sort()).toEqual(['0', '1', '2']);
    expect(reign.most).toBe(1);
    expect(scopes).toEqual(reign.leaderships);
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)));
    expect(await eventually('it may queue again', () => selectors[0]!.requeue())).toBe(true);
    await reign.begun(4);
  });

  it('leads again and again if it queues by itself', async () => {
    const { mine, key } = stage();
    const reign = new LeaderSelectorReign();
    const selector = mine.locks.leaderSelector(key, reign.leads(), { autoRequeue: true });
    selector.start();
    for (let term = 1; term <= 3; term++) {
      await reign.begun(term);
      if (term === 2) selector.interruptLeadership();
      else reign.end();
    }
    await selector.close();
    expect(await stage().contenders()).toEqual([]);
    expect(() => selector.requeue()).toThrow(ElectionClosedError);
  });

  it('keeps others out until the function of an interrupted one has ended', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const mayEnd = new Deferred();
    const leading = mine.locks.leaderSelector(key, () => mayEnd.promise);
    leading.start();
    await eventually('it leads', () => leading.hasLeadership);
    const next = theirs.locks.leaderSelector(key, reign.leads());
    next.start();
    leading.interruptLeadership();
    expect(leading.hasLeadership).toBe(false);
    const closing = leading.close();
    await stage().caughtUp(theirs);
    expect([await isSettled(closing), reign.leaders.length]).toEqual([false, 0]);
    mayEnd.resolve();
    await closing;
    await reign.begun(1);
    await next.close();
  });

  it('has the next one lead when one fails, which is a process warning', async () => {
    const { mine, theirs, key } = stage();
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    try {
      const reign = new LeaderSelectorReign();
      const mayFail = new Deferred();
      const failing = mine.locks.leaderSelector(key, async () => {
        await mayFail.promise;
        throw new Error('out of ink');
      });
      failing.start();
      await eventually('it leads', () => failing.hasLeadership);
      theirs.locks.leaderSelector(key, reign.leads()).start();
      mayFail.resolve();
      await reign.begun(1);
      await failing.close();
      expect(warn.mock.calls).toEqual([[expect.stringMatching(/leader of .*out of ink/)]]);
    } finally {
      warn.mockRestore();
    }
  });

  it('ends with its client, which does not wait for its function', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const mayEnd = new Deferred();
    let leadership: Lease | undefined;
    const leading = mine.locks.leaderSelector(
      key,
      (given) => {
        leadership = given as Lease;
        return mayEnd.promise;
      },
      { autoRequeue: true },
    );
    leading.start();
    await eventually('it leads', () => leading.hasLeadership);
    const closing = mine.locks.close();
    expectLost(leadership!);
    await closing;
    theirs.locks.leaderSelector(key, reign.leads()).start();
    await reign.begun(1);
    mayEnd.resolve();
    await leading.close();
  });
}
