import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Program } from '../../../faults/support/program.js';
import { titleOf } from '../../explorer/title.js';
import type { TaskReport } from '../../explorer/exploration.js';
import { REDIS_COMPARED, REDIS_EXPLORED, REDIS_FOUND } from './redis-explored.js';
import type { RedisTask } from './redis-tasks.js';

const perform = (task: RedisTask): Promise<TaskReport> => {
  program.tell(JSON.stringify(task));
  return program.next<TaskReport>();
};

describe('Exploration of every order in which messages between clients and Redis may arrive', () => {
  const short = REDIS_EXPLORED.filter(({ isLong }) => !isLong);

  it.each(short.map((one) => [titleOf(one.task), one] as const))(
    'finds no broken promise: %s',
    async (_, { task, runs, outcomes }) => {
      const { failure, ...counts } = await perform(task);
      expect(failure?.story).toBeUndefined();
      expect(counts).toMatchObject({ runs, outcomes, isExhausted: true });
    },
  );

  it.each(
    (
      [
        { redis: 'spin lock', clients: 2, faults: 0 },
        { redis: 'mutex', clients: 1, faults: 1, kinds: ['cut'] },
      ] satisfies RedisTask[]
    ).map((task) => [titleOf(task), task] as const),
  )('leaves out no order in which a client sees something else: %s', async (_, task) => {
    const reduced = await perform(task);
    const full = await perform({ ...task, reduction: 'none' });
    expect(full).toMatchObject({ isExhausted: true, views: reduced.views });
    expect(full.runs).toBeGreaterThan(9 * reduced.runs);
  });

  it.each(REDIS_COMPARED.short.map((task) => [titleOf(task), task] as const))(
    'leaves out nothing that a client can see: %s',
    async (_, task) => {
      const reduced = await perform(task);
      const all = await perform({ ...task, reduction: 'orders' });
      expect(all).toMatchObject({ isExhausted: true, views: reduced.views });
      expect(all.runs).toBeGreaterThanOrEqual(reduced.runs);
    },
  );

  it.each(REDIS_FOUND.map((one) => [one.bug, one.task.redis, one] as const))(
    'finds a client that %s: %s',
    async (bug, _, { task, accusation, most = 12 }) => {
      const { failure } = await perform({ ...task, bug });
      expect(failure?.accusation).toMatch(accusation);
      expect(failure!.steps.length).toBeLessThanOrEqual(most);
    },
  );

  it('says who did what, when, and how to do it again', async () => {
    const bug = 'leaves no tombstones';
    const { failure } = await perform({
      redis: 'mutex',
      clients: 1,
      faults: 1,
      kinds: ['cut'],
      bug,
    });
    const { accusation, steps, story } = failure!;
    expect(story.startsWith(`${accusation}\n\n`)).toBe(true);
    expect(story).toMatch(/^ +\d+\.\d\d ms +1\. user a asks for fenced mutex a$/m);
    expect(story).toMatch(
      /^ +\d+\.\d\d ms +\d+\. client 0, connection 2: the server reads: lock-acquire a /m,
    );
    const [, again] = /npm run explore -- '(.*)'$/.exec(story) ?? [];
    expect(JSON.parse(again!)).toMatchObject({ redis: 'mutex', bug, steps });
  });
});

jest.setTimeout(120_000); // the report of a task that is given up would be taken for that of the next

let program: Program;
beforeAll(() => {
  program = new Program(new URL('../../explorer/explorer-program.ts', import.meta.url));
});
afterAll(() => program.stop());
