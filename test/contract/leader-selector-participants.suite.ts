import { expect, it } from '@jest/globals';
import { hostname } from 'node:os';
import { LockKeyError, LockOptionsError } from '../../lib/core/errors/index.js';
import type { LeaderSelectorOptions } from '../../lib/core/election/leader-selector.js';
import { eventually } from '../support/eventually.js';
import { LeaderSelectorReign } from './leader-selector-reign.js';
import type { Stage } from './stage.js';

/** The participants of an election, and the input that is refused. Curator's TestLeaderSelectorParticipants. */
export function leaderSelectorParticipantsSuite(stage: () => Stage): void {
  const nodesBecome = (count: number) =>
    eventually(`${count} nodes`, async () => (await stage().nodes()).length === count);

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

  it('are all listed in the order of the queue, the leader first (Curator: testBasic)', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const ids = Array.from({ length: 10 }, (_, n) => `candidate ${n}`);
    const selectors = ids.map((id, n) =>
      (n % 2 === 0 ? mine : theirs).locks.leaderSelector(key, reign.leads(id), { id }),
    );
    for (const [n, selector] of selectors.entries()) {
      selector.start();
      await nodesBecome(n + 1);
    }
    await reign.begun(1);
    const expected = ids.map((id, n) => ({ id, isLeader: n === 0 }));
    for (const client of [mine, theirs]) await stage().caughtUp(client);
    for (const selector of selectors) expect(await selector.participants()).toEqual(expected);

    await selectors[4]!.close(); // one in the middle
    reign.end(); // and the leader
    await reign.begun(2);
    await nodesBecome(8);
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
    await nodesBecome(2);
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
