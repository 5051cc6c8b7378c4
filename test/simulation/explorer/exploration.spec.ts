import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Program } from '../../faults/support/program.js';
import { EXPLORED, titleOf } from './explored.js';
import type { PlantedBug } from './planted.js';
import type { Task, TaskReport } from './tasks.js';

const BUGS: readonly (readonly [PlantedBug, Task, said: RegExp])[] = [
  [
    'takes an answered read for a proof',
    { scenario: 'mutex', clients: 2, faults: 1 },
    /says that it is held without its node/,
  ],
  [
    'keeps the timeout of the first server',
    { scenario: 'mutex', clients: 1, faults: 2, kinds: ['shorten', 'silence'] },
    /says that it is held without its node/,
  ],
  [
    'does not try a refused deletion again',
    { scenario: 'mutex', clients: 2, faults: 1 },
    /stands in the way/,
  ],
  [
    'forgets the writer of an inner reader',
    { scenario: 'readers of one client', clients: 1, faults: 0, seed: 1, runs: 500 },
    /never had its turn/,
  ],
];

const perform = (task: Task): Promise<TaskReport> => {
  program.tell(JSON.stringify(task));
  return program.next<TaskReport>();
};

describe('Exploration of every order in which the server may handle what clients send', () => {
  const short = EXPLORED.filter(({ isLong }) => !isLong);

  it.each(short.map((one) => [titleOf(one.task), one] as const))(
    'finds no broken promise: %s',
    async (_, { task, runs, outcomes }) => {
      const { failure, ...counts } = await perform(task);
      expect(failure?.story).toBeUndefined();
      expect(counts).toMatchObject({ runs, outcomes, isExhausted: true });
    },
  );

  it.each(['mutex', 'mutex of those who try'] as const)(
    'leaves out no run with another outcome: %s',
    async (scenario) => {
      const reduced = await perform({ scenario, clients: 2, faults: 0 });
      const full = await perform({ scenario, clients: 2, faults: 0, isReduced: false });
      expect(full).toMatchObject({ isExhausted: true, outcomes: reduced.outcomes });
      expect(full.runs).toBeGreaterThan(10 * reduced.runs);
    },
  );

  it.each(BUGS)('finds a client that %s, in at most a dozen steps', async (bug, task, said) => {
    const { failure } = await perform({ ...task, bug });
    expect(failure?.accusation).toMatch(said);
    expect(failure!.steps.length).toBeLessThanOrEqual(12);
  });

  it('says who did what, when, and how to do it again', async () => {
    const bug = 'does not try a refused deletion again';
    const { failure } = await perform({ scenario: 'mutex', clients: 2, faults: 1, bug });
    const { accusation, steps, story } = failure!;
    expect(steps).toEqual([
      'user b asks for a',
      'client 1 is served',
      'client 1 is served',
      'user b releases a',
      'client 1: a busy server refuses delete',
    ]);
    expect(story.startsWith(`${accusation}\n\n`)).toBe(true);
    expect(story).toMatch(/^ +\d+\.\d\d ms +1\. user b asks for a$/m);
    expect(story).toMatch(/^ +\d+\.\d\d ms +granted hold 1 by \/locks\/a\/lock-0000000000$/m);
    const [, again] = /npm run explore -- '(.*)'$/.exec(story) ?? [];
    expect(JSON.parse(again!)).toMatchObject({ scenario: 'mutex', bug, steps });
  });
});

let program: Program;
beforeAll(() => {
  program = new Program(new URL('./explorer-program.ts', import.meta.url));
});
afterAll(() => program.stop());
