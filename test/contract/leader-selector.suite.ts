import { hostname } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import type {
  LeaderSelector,
  LeaderSelectorOptions,
} from '../../lib/core/election/leader-selector.js';
import { LockKeyError, LockOptionsError } from '../../lib/core/errors/index.js';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import type { Lease } from '../../lib/core/lease.js';
import { Deferred, eventually, isSettled } from '../support/time.js';
import { eventsOf, expectLost } from './backends/leases.js';
import { LeaderSelectorReign } from './backends/recipes.js';
import { type Deployment, type LockStage, onStage, useWarnings } from './backends/stage.js';
import { type Backend, Stage } from './backends/zookeeper.js';
import {
  leaderSelectorClosingSuite,
  leaderSelectorFaultsSuite,
  leaderSelectorOfflineSuite,
} from './leader-selector-faults.suite.js';

/** Everything that a leader selector promises on ZooKeeper, with the cases of Curator's TestLeaderSelector. */
export function leaderSelectorSuite(on: Deployment<Backend>): void {
  describe(`A leader selector on ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend()));
    on.part('leading', 'deployment', () => leaderSelectorTermsSuite(stage));
    on.part('its function', 'client', () => leaderSelectorScopeSuite(stage));
    on.part('the participants', 'server', () => leaderSelectorParticipantsSuite(stage));
    on.part('closing', 'server', () => leaderSelectorClosingSuite(stage));
    on.part('leaders', 'recipe', () => leaderSelectorFaultsSuite(stage));
    on.part('leaders without servers', 'client', () => leaderSelectorOfflineSuite(stage));
  });
}

/** Terms of leadership while nothing goes wrong but the leader. */
function leaderSelectorTermsSuite(stage: () => Stage): void {
  const warnings = useWarnings();

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
    await stage().nodesBecome(0);
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
    const warn = warnings();
    const reign = new LeaderSelectorReign();
    const isWaiting = new Deferred();
    const failing = mine.locks.leaderSelector(key, async () => {
      await isWaiting.promise;
      throw new Error('out of ink');
    });
    const next = theirs.locks.leaderSelector(key, reign.leads());
    const heard = eventsOf(mine);
    failing.start();
    await stage().nodesBecome(1);
    next.start();
    await stage().nodesBecome(2);
    isWaiting.resolve();
    await reign.begun(1);
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/leader of .*out of ink/)]]);
    await eventually('it is over', () => heard.length === 2);
    expect(heard.map(({ kind }) => kind)).toEqual(['acquired', 'released']);
    expect([failing.hasLeadership, next.hasLeadership]).toEqual([false, true]);
    await failing.close();
    await next.close();
    expect(warn).toHaveBeenCalledTimes(1);
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
    await stage().nodesBecome(2);
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
    await stage().nodesBecome(0);
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
    await stage().nodesBecome(0);
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
    await stage().nodesBecome(0);
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
      await stage().nodesBecome(names.length);
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

/** The locks that the function of a selector runs in, on any backend. */
export function leaderSelectorScopeSuite(stage: () => LockStage): void {
  it('does not run in the locks of the caller that started the selector', async () => {
    const { mine, key } = stage();
    const isLeading = new Deferred();
    const isEntered = new Deferred();
    const lock = mine.locks.mutex(`${key}-of-the-starter`);
    const selector = mine.locks.leaderSelector(key, async () => {
      isLeading.resolve();
      await lock.using(() => isEntered.resolve());
    });
    await lock.using(async () => {
      selector.start();
      await isLeading.promise;
      await stage().caughtUp(mine);
      expect(await isSettled(isEntered.promise)).toBe(false);
    });
    await isEntered.promise;
    await selector.close();
  });
}

/** The participants of an election, and the input that is refused. Curator's TestLeaderSelectorParticipants. */
function leaderSelectorParticipantsSuite(stage: () => Stage): void {
  it('show the leader by its id (Curator: testId)', async () => {
    const { mine, theirs, key, stranger } = stage();
    const reign = new LeaderSelectorReign();
    const selector = mine.locks.leaderSelector(key, reign.leads(), { id: 'A is A' });
    expect(await selector.leader()).toBeUndefined();
    expect(await selector.participants()).toEqual([]);
    selector.start();
    await reign.begun(1);
    await stage().caughtUp(theirs);
    const other = theirs.locks.leaderSelector(key, reign.leads(), { id: 'somebody else' });
    for (const each of [selector, other]) {
      expect(await each.leader()).toEqual({ id: 'A is A', isLeader: true });
      expect(await each.participants()).toEqual([{ id: 'A is A', isLeader: true }]);
    }
    expect(selector.id).toBe('A is A');
    const [node] = await stage().contenders();
    expect((await stranger.getData(node!)).data.toString()).toBe('A is A');
  });

  it('are all listed in the order of the queue, the leader first (Curator: TestLeaderSelectorParticipants testBasic)', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const ids = Array.from({ length: 10 }, (_, n) => `candidate ${n}`);
    const selectors = ids.map((id, n) =>
      (n % 2 === 0 ? mine : theirs).locks.leaderSelector(key, reign.leads(id), { id }),
    );
    for (const [n, selector] of selectors.entries()) {
      selector.start();
      await stage().nodesBecome(n + 1);
    }
    await reign.begun(1);
    const expected = ids.map((id, n) => ({ id, isLeader: n === 0 }));
    for (const client of [mine, theirs]) await stage().caughtUp(client);
    for (const selector of selectors) expect(await selector.participants()).toEqual(expected);

    await selectors[4]!.close(); // one in the middle
    reign.end(); // and the leader
    await reign.begun(2);
    await stage().nodesBecome(8);
    for (const client of [mine, theirs]) await stage().caughtUp(client);
    const left = expected.filter((_, n) => n !== 0 && n !== 4);
    left[0] = { ...left[0]!, isLeader: true };
    for (const selector of selectors) expect(await selector.participants()).toEqual(left);
    expect(reign.leaders).toEqual(['candidate 0', 'candidate 1']);
  });

  it('have host and process as their default id', () => {
    const { mine, key } = stage();
    const selector = mine.locks.leaderSelector(key, () => {});
    expect(selector.id).toBe(`${hostname()}:${process.pid}`);
  });

  it('may have an id in any language, and the same id as others', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const id = 'Zürich ⚖️ 选举';
    const selectors = [mine, theirs].map(({ locks }) =>
      locks.leaderSelector(key, reign.leads(), { id }),
    );
    for (const selector of selectors) selector.start();
    await stage().nodesBecome(2);
    await stage().caughtUp(mine);
    expect(await selectors[0]!.participants()).toEqual([
      { id, isLeader: true },
      { id, isLeader: false },
    ]);
  });

  it.each<[string, LeaderSelectorOptions]>([
    ['id', { id: 7 as unknown as string }],
    ['id', { id: 'x'.repeat(1_000_001) }],
    ['errorPolicy', { errorPolicy: 'none' as 'session' }],
  ])('refuses a wrong %s (%#)', (option, options) => {
    const { mine, key } = stage();
    const make = () => mine.locks.leaderSelector(key, () => {}, options);
    expect(make).toThrow(LockOptionsError);
    expect(make).toThrow(new RegExp(`\`${option}\``));
  });

  it.each(['', '/not//canonical', 'a\0b', 7 as unknown as string])('refuses the key %p', (key) => {
    expect(() => stage().mine.locks.leaderSelector(key, () => {})).toThrow(LockKeyError);
  });

  it('refuses the key of a lock, and of a latch', () => {
    const { mine, key } = stage();
    mine.locks.mutex(`${key}.mutex`);
    mine.locks.leaderLatch(`${key}.latch`);
    for (const taken of [`${key}.mutex`, `${key}.latch`])
      expect(() => mine.locks.leaderSelector(taken, () => {})).toThrow(LockKeyError);
    mine.locks.leaderSelector(key, () => {});
    expect(() => mine.locks.mutex(key)).toThrow(LockKeyError);
  });

  it('refuses what is no function', () => {
    const { mine, key } = stage();
    expect(() => mine.locks.leaderSelector(key, undefined as never)).toThrow(LockOptionsError);
  });
}
