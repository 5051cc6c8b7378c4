import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Program } from '../../../faults/support/program.js';
import { COMPARED, EXPLORED, FOUND } from './explored.js';
import type { TaskReport } from '../exploration.js';
import { titleOf } from '../title.js';
import type { Task } from './tasks.js';

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
    'leaves out no run in which a client sees something else: %s',
    async (scenario) => {
      const reduced = await perform({ scenario, clients: 2, faults: 0 });
      const full = await perform({ scenario, clients: 2, faults: 0, reduction: 'none' });
      expect(full).toMatchObject({ isExhausted: true, views: reduced.views });
      expect(full.runs).toBeGreaterThan(10 * reduced.runs);
    },
  );

  it.each(COMPARED.short)(
    'leaves out nothing that a client can see with the steps that come to the same as others: %s',
    async (...kinds) => {
      const task = { scenario: 'mutex', clients: 2, faults: 1, kinds } as const;
      const reduced = await perform(task);
      const all = await perform({ ...task, reduction: 'orders' });
      expect(all).toMatchObject({ isExhausted: true, views: reduced.views });
      expect(all.runs).toBeGreaterThan(1.5 * reduced.runs);
    },
  );

  const found = FOUND.filter(({ isLong }) => !isLong);
  it.each(found.map((one) => [one.bug, one] as const))(
    'finds a client that %s, in a few steps',
    async (bug, { task, accusation, most = 12 }) => {
      const { failure } = await perform({ ...task, bug });
      expect(failure?.accusation).toMatch(accusation);
      expect(failure!.steps.length).toBeLessThanOrEqual(most);
    },
  );

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

jest.setTimeout(120_000); // the report of a task that is given up would be taken for that of the next

let program: Program;
beforeAll(() => {
  program = new Program(new URL('../explorer-program.ts', import.meta.url));
});
afterAll(() => program.stop());
