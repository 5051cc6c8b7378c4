import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Program } from '../../../../faults/support/program.js';
import { titleOf } from '../../../explorer/title.js';
import type { TaskReport } from '../../../explorer/exploration.js';
import { RED_LOCK_COMPARED, RED_LOCK_EXPLORED, RED_LOCK_FOUND } from './red-lock-explored.js';
import type { RedLockTask } from './red-lock-tasks.js';

const perform = (task: RedLockTask): Promise<TaskReport> => {
  program.tell(JSON.stringify(task));
  return program.next<TaskReport>();
};

describe('Exploration of every order in which messages between clients and several servers may arrive', () => {
  const short = RED_LOCK_EXPLORED.filter(({ isLong }) => !isLong);

  it.each(short.map((one) => [titleOf(one.task), one] as const))(
    'finds no broken promise: %s',
    async (_, { task, runs, outcomes }) => {
      const { failure, ...counts } = await perform(task);
      expect(failure?.story).toBeUndefined();
      expect(counts).toMatchObject({ runs, outcomes, isExhausted: true });
    },
  );

  const compared = RED_LOCK_COMPARED.filter(({ isLong }) => !isLong);
  it.each(compared.map(({ task }) => [titleOf(task), task] as const))(
    'leaves out nothing that a client can see with servers that are alike, and answers that are only counted: %s',
    async (_, task) => {
      const reduced = await perform(task);
      const all = await perform({ ...task, reduction: 'orders' });
      expect(all).toMatchObject({ isExhausted: true, views: reduced.views });
      expect(all.runs).toBeGreaterThan(2 * reduced.runs);
    },
  );

  it.each(RED_LOCK_FOUND.map((one) => [one.bug, one.task.redLock, one] as const))(
    'finds a client that %s: %s',
    async (bug, _, { task, accusation, most = 12 }) => {
      const { failure } = await perform({ ...task, bug });
      expect(failure?.accusation).toMatch(accusation);
      expect(failure!.steps.length).toBeLessThanOrEqual(most);
    },
  );

  it('says who did what, when, and how to do it again', async () => {
    const bug = 'keeps what a minority has granted';
    const task = { redLock: 'mutex of those who try', clients: 1, faults: 1 } as const;
    const { failure } = await perform({ ...task, kinds: ['delay'], bug });
    const { accusation, steps, story } = failure!;
    expect(steps).toEqual([
      'user a tries',
      'client 0, connection 1 to server 1: the server reads',
      'client 0, connection 1 to server 1: the client reads',
      'a timer comes before all messages',
    ]);
    expect(story.startsWith(`${accusation}\n\n`)).toBe(true);
    expect(story).toMatch(/^ +\d+\.\d\d ms +1\. user a tries$/m);
    expect(story).toMatch(/^ +\d+\.\d\d ms +2\. .*: the server reads: lock-acquire a$/m);
    const [, again] = /npm run explore -- '(.*)'$/.exec(story) ?? [];
    expect(JSON.parse(again!)).toMatchObject({ ...task, bug, steps });
  });
});

jest.setTimeout(120_000); // the report of a task that is given up would be taken for that of the next

let program: Program;
beforeAll(() => {
  program = new Program(new URL('../../../explorer/explorer-program.ts', import.meta.url));
});
afterAll(() => program.stop());
