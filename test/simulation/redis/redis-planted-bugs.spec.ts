import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Program } from '../../faults/support/program.js';
import type { RedisOrder, RedisSchedulesReport } from './redis-schedules-program.js';
import type { PlantedBug } from './world/planted.js';
import type { AnyPlot } from './world/any-schedule.js';

interface Planted {
  readonly bug: PlantedBug;
  /** The first schedule of each plot that is known to catch it. */
  readonly seeds: Readonly<Partial<Record<AnyPlot, number>>>;
  /** What the judge says of it. */
  readonly violation: RegExp;
}

const BUGS: readonly Planted[] = [
  {
    bug: 'renews what another one holds',
    seeds: { mutex: 93 },
    violation: /believes that it is held for longer than the server keeps it/,
  },
  {
    bug: 'lets a late copy undo an extension',
    seeds: { 'extended mutex': 52 },
    violation: /believes that it is held for longer than the server keeps it/,
  },
  {
    bug: 'releases what another one holds',
    seeds: { mutex: 1 },
    violation: /believes that it is held for longer than the server keeps it/,
  },
  {
    bug: 'releases what callers share with the first of them',
    seeds: { 'read lock that is shared': 1 },
    violation: /believes that it is held for longer than the server keeps it/,
  },
  {
    bug: 'keeps what callers have shared',
    seeds: { 'read lock that is shared': 1 },
    violation: /is on the server since .*, and nobody has it/,
  },
  {
    bug: 'wakes none of the registered waiters',
    seeds: { mutex: 1 },
    violation: /is free since .* and its waiters are forgotten/,
  },
  {
    bug: 'takes the last reader out without a word',
    seeds: { 'read/write lock': 1 },
    violation: /is free since .* and its waiters are forgotten/,
  },
  {
    bug: 'wakes no other when a woken waiter leaves',
    seeds: { 'mutex of the impatient': 1 },
    violation: /is free since .* and its waiters are forgotten/,
  },
  {
    bug: 'leaves permits without a word that it was woken to take',
    seeds: { 'semaphore of the impatient': 9 },
    violation: /is free since .* and its waiters are forgotten/,
  },
  {
    bug: 'shortens leases by copies',
    seeds: { 'extended mutex': 48 },
    violation: /believes that it is held for longer than the server keeps it/,
  },
  {
    bug: 'lets the renewal of one reader shorten the lock of all',
    seeds: { 'read/write lock': 1 },
    violation: /believes that it is held for longer than the server keeps it/,
  },
  {
    bug: 'forgets which extension a renewal stands for',
    seeds: { 'extended mutex': 108 },
    violation: /believes that it is held for longer than the server keeps it/,
  },
  {
    bug: 'grants to holders that have gone',
    seeds: { mutex: 17, 'read/write lock': 2, 'fair semaphore': 4 },
    violation: /is back after its release/,
  },
  {
    bug: 'leaves no tombstones',
    seeds: { mutex: 17, 'fair mutex': 4, semaphore: 17 },
    violation: /is back after its release/,
  },
  {
    bug: 'serves the first to ask when the lock is free',
    seeds: { 'fair mutex': 1, 'fair semaphore': 1 },
    violation: /is served before .*, which came first/,
  },
  {
    bug: 'serves the last of the queue first',
    seeds: { 'fair mutex': 1 },
    violation: /is served before .*, which came first/,
  },
  {
    bug: 'counts the copies of a request',
    seeds: { 'mutex with guarded writes': 2, 'plain semaphore': 1, latch: 1 },
    violation:
      /guarded writes under a have counted|permits of a are lost|latch a was changed 1 times by 0 calls/,
  },
  {
    bug: 'keeps permits that were acquired in vain',
    seeds: { 'plain semaphore': 1 },
    violation: /permits of a are lost/,
  },
  {
    bug: 'opens the latch before the last count',
    seeds: { latch: 1 },
    violation: /latch a changes from 2 to 0/,
  },
  {
    bug: 'opens the latch without a word',
    seeds: { latch: 1 },
    violation: /is free since .* and its waiters are forgotten/,
  },
  { bug: 'gives a token twice', seeds: { mutex: 1 }, violation: /has the token 0 after 0/ },
  {
    bug: 'keeps expired permits',
    seeds: { semaphore: 10 },
    violation: /is left on the server/,
  },
  {
    bug: 'takes some of several locks while another one is taken',
    seeds: { 'multi-lock': 1 },
    violation: /is on the server since .*, and nobody has it/,
  },
  {
    bug: 'leaves the waiters of one of several locks without a word',
    seeds: { 'multi-lock': 38 },
    violation: /is free since .* and its waiters are forgotten/,
  },
  {
    bug: 'releases the first of several locks',
    seeds: { 'multi-lock': 1 },
    violation: /is on the server since .*, and nobody has it/,
  },
  {
    bug: 'releases what the writer reads with its write lock',
    seeds: { 'read/write lock that is re-entered': 1 },
    violation: /believes that it is held for longer than the server keeps it/,
  },
  {
    bug: 'takes half of the servers for a majority',
    seeds: { 'red-lock': 1 },
    violation: /believes that it is held, and no majority keeps it for so long/,
  },
  {
    bug: 'lets leases end early',
    seeds: { 'red-lock': 1 },
    violation: /believes that it is held, and no majority keeps it for so long/,
  },
  {
    bug: 'keeps what a minority has granted',
    seeds: { 'red-lock': 1 },
    violation: /Not over within 100000 ms/,
  },
  {
    bug: 'keeps a lock that others wait for',
    seeds: { 'mutex that is kept': 7 },
    violation: /is on the server since .*, and nobody has it/,
  },
  {
    bug: 'overlooks who waited before a lock was kept',
    seeds: { 'mutex that is kept': 7 },
    violation: /is on the server since .*, and nobody has it/,
  },
  {
    bug: 'counts no re-entry',
    seeds: { 'mutex that is re-entered': 1 },
    violation: /believes that it is held for longer than the server keeps it/,
  },
  {
    bug: 'counts a re-entry twice',
    seeds: { 'mutex that is re-entered': 1 },
    violation: /is on the server since .*, and nobody has it/,
  },
];

const CASES = BUGS.flatMap(({ bug, seeds, violation }) =>
  Object.entries(seeds).map(([plot, seed]) => ({ bug, plot: plot as AnyPlot, seed, violation })),
);

let program: Program;
beforeAll(() => {
  program = new Program(new URL('./redis-schedules-program.ts', import.meta.url));
});
afterAll(() => program.stop());

async function failureOf(order: RedisOrder): Promise<RedisSchedulesReport['failure']> {
  program.tell(JSON.stringify(order));
  return (await program.next<RedisSchedulesReport>()).failure;
}

const accusationOf = async (order: RedisOrder) => (await failureOf(order))?.accusation;

describe('A lock on Redis with a planted bug', () => {
  it.each(CASES)(
    'is caught if it $bug, in schedule $seed of the $plot',
    async ({ bug, plot, seed, violation }) => {
      expect(await accusationOf({ plot, seed, runs: 1, bug })).toMatch(violation);
    },
    60_000,
  );

  it('is caught in a story of the few visits that matter', async () => {
    const bug = 'serves the first to ask when the lock is free';
    const failure = await failureOf({ plot: 'fair mutex', seed: 1, runs: 1, bug, isShrunk: true });
    expect(failure!.steps).toBeLessThanOrEqual(5);
    expect(failure!.story).toMatch(/is served before .*, which came first\n\n/);
    expect(failure!.story).toMatch(/^ +\d+\.\d\d ms +1\. user 0 of client 3 comes, 1$/m);
    expect(failure!.story).toMatch(/^ +\d+\.\d\d ms +VIOLATION /m);
  }, 60_000);

  it('is as it should be without the bug', async () => {
    const schedules = new Map(CASES.map((it) => [`${it.plot} ${it.seed}`, it])); // several bugs are found by one
    for (const { plot, seed } of schedules.values())
      expect(await accusationOf({ plot, seed, runs: 1 })).toBeUndefined();
  }, 240_000);
});
