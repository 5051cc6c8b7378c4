import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Program } from '../../faults/support/program.js';
import { byTier } from '../../support/tier.js';
import type { RedisOrder, RedisSchedulesReport } from './redis-schedules-program.js';
import type { AnyPlot } from './world/any-schedule.js';

/** `SIMULATION_SEED=7 SIMULATION_RUNS=1` runs the schedule of seed 7 alone. */
const SEED = Number(process.env.SIMULATION_SEED ?? 1);
const RUNS = Number(process.env.SIMULATION_RUNS ?? byTier({ quick: 2, standard: 4, long: 1_000 }));
/** Far more than a schedule takes, in ms. */
const LONGEST = 2_000;

const KINDS: readonly (readonly [title: string, plot: AnyPlot])[] = [
  ['A mutex on Redis', 'mutex'],
  ['A fair mutex on Redis', 'fair mutex'],
  ['A mutex on Redis with guarded writes', 'mutex with guarded writes'],
  ['A mutex on Redis that is handed on', 'mutex that is handed on'],
  ['A mutex on Redis that is kept', 'mutex that is kept'],
  ['A mutex on Redis that is re-entered', 'mutex that is re-entered'],
  ['A multi-lock on Redis', 'multi-lock'],
  ['A mutex on Redis that is extended', 'extended mutex'],
  ['A mutex on Redis with impatient waiters', 'mutex of the impatient'],
  ['A spin lock', 'spin lock'],
  ['A read/write lock on Redis', 'read/write lock'],
  ['A read/write lock on Redis that is re-entered', 'read/write lock that is re-entered'],
  ['A read lock on Redis that is shared', 'read lock that is shared'],
  ['A semaphore on Redis', 'semaphore'],
  ['A semaphore on Redis whose permits have no owner', 'plain semaphore'],
  ['A latch on Redis', 'latch'],
  ['A semaphore on Redis with impatient waiters', 'semaphore of the impatient'],
  ['A fair semaphore on Redis', 'fair semaphore'],
  ['A RedLock', 'red-lock'],
];

/** Nothing is lost of what has no lease. */
const WITHOUT_LEASE: readonly AnyPlot[] = ['plain semaphore', 'latch'];

let program: Program;
beforeAll(() => {
  program = new Program(new URL('./redis-schedules-program.ts', import.meta.url));
});
afterAll(() => program.stop());

function run(order: RedisOrder): Promise<RedisSchedulesReport> {
  program.tell(JSON.stringify(order));
  return program.next<RedisSchedulesReport>();
}

describe.each(KINDS)('%s in random accidents', (title, plot) => {
  it(
    `keeps its promises in ${RUNS} schedules from seed ${SEED}`,
    async () => {
      const { failure, counts } = await run({ plot, seed: SEED, runs: RUNS, isShrunk: true });
      if (failure)
        throw new Error(
          `To replay it: SIMULATION_SEED=${failure.seed} SIMULATION_RUNS=1 npm test -- test/simulation/redis/redis-schedules -t '${title} in'\n\nWhat matters of it:\n${failure.story}\n\nAll of it:\n${failure.accusation}`,
        );
      if (RUNS < 4) return;
      expect(Object.fromEntries(counts)).toMatchObject({
        granted: expect.any(Number),
        ...(!WITHOUT_LEASE.includes(plot) && { lost: expect.any(Number) }),
        RECONNECTED: expect.any(Number),
      });
    },
    180_000 + RUNS * LONGEST, // a failure is run again, to leave out what does not matter
  );

  it('goes the same way whenever a schedule is run again', async () => {
    const order = { plot, seed: SEED + 4, runs: 1 } as const;
    expect((await run(order)).lines).toEqual((await run(order)).lines);
  }, 60_000);
});
