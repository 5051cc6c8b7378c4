import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Program } from '../../faults/support/program.js';
import type { PlantedBug } from './planted.js';
import type { Task, TaskReport } from './tasks.js';

const ALONE = { clients: 2, faults: 0 } as const;
const DISTURBED = { clients: 2, faults: 1 } as const;

/** With the number of runs that there are, no two of which differ only in the order of independent steps. */
const ALL_RUNS: readonly (readonly [runs: number, task: Task])[] = [
  [14, { scenario: 'mutex', ...ALONE }],
];

const BUGS: readonly (readonly [PlantedBug, Task, said: RegExp])[] = [
  [
    'takes an answered read for a proof',
    { scenario: 'mutex', ...DISTURBED },
    /says that it is held without its node/,
  ],
  [
    'keeps the timeout of the first server',
    { scenario: 'mutex', clients: 2, faults: 2, kinds: ['shorten', 'silence'] },
    /says that it is held without its node/,
  ],
  [
    'does not try a refused deletion again',
    { scenario: 'mutex', ...DISTURBED },
    /stands in the way/,
  ],
  [
    'forgets the writer of an inner reader',
    { scenario: 'readers of one client', clients: 1, faults: 0, seed: 1, runs: 1_000 },
    /never had its turn/,
  ],
];

const perform = (task: Task): Promise<TaskReport> => {
  program.tell(JSON.stringify(task));
  return program.next<TaskReport>();
};

const titleOf = ({ scenario, clients, faults, kinds }: Task) =>
  `${scenario}, ${clients} clients, ${faults} faults${kinds ? ` (${kinds.join()})` : ''}`;

describe('Exploration of every order in which the server may handle what clients send', () => {
  it.each(ALL_RUNS.map(([runs, task]) => [titleOf(task), runs, task] as const))(
    'finds no broken promise: %s',
    async (_, runs, task) => {
      const { failure, ...counts } = await perform(task);
      expect(failure?.story).toBeUndefined();
      expect(counts).toMatchObject({ runs, isExhausted: true });
    },
  );

  it.each(BUGS)('finds a client that %s, in at most a dozen steps', async (bug, task, said) => {
    const { failure } = await perform({ ...task, bug });
    expect(failure?.accusation).toMatch(said);
    expect(failure!.steps.length).toBeLessThanOrEqual(12);
  });
});

let program: Program;
beforeAll(() => {
  program = new Program(new URL('./explorer-program.ts', import.meta.url));
});
afterAll(() => program.stop());
