import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Program } from '../faults/support/program.js';
import { byTier } from '../support/tier.js';
import type { SchedulesReport } from './schedules-program.js';
import type { Kind } from './schedules.js';

/** `SIMULATION_SEED=7 SIMULATION_RUNS=1` runs the schedule of seed 7 alone. */
const SEED = Number(process.env.SIMULATION_SEED ?? 1);
const RUNS = Number(
  process.env.SIMULATION_RUNS ?? byTier({ quick: 40, standard: 75, long: 10_000 }),
);
/** Far more than a schedule takes, in milliseconds. */
const LONGEST = 1_000;

const OF_CONNECTIONS = ['SUSPENDED', 'RECONNECTED', 'LOST', 'session ended'];
const OF_LOCKS = [
  ...OF_CONNECTIONS,
  'CONNECTED',
  'granted',
  'refused',
  'released',
  'fenced',
  'lost',
  'endangered',
  'queued again',
  'taken',
  'failed with LOCK_TIMEOUT',
  'failed with LOCK_ABORTED',
  'failed with LOCK_CLIENT_CLOSED',
];
const OF_ELECTIONS = [
  ...OF_CONNECTIONS,
  'CONNECTED',
  'stands',
  'queued again',
  'leads',
  'fenced',
  'lost',
  'released',
  'closed',
  'taken',
];
const OF_A_LATCH = [
  'entered',
  'kept out',
  'awaited',
  'failed with LOCK_TIMEOUT',
  'failed with LOCK_ABORTED',
  'failed with LOCK_ELECTION_CLOSED',
];
const OF_COUNTERS = [
  ...OF_CONNECTIONS,
  'number changed',
  'made',
  'not made',
  'read',
  'failed with MAYBE_DONE',
  'failed with LOCK_CLIENT_CLOSED',
];
const OF_CROWDS = [
  ...OF_CONNECTIONS,
  'granted',
  'released',
  'lost',
  'queued again',
  'taken',
  're-entered',
  'failed with LOCK_TIMEOUT',
  'failed with LOCK_ABORTED',
];
const OF_DEADLOCKS = [
  ...OF_CONNECTIONS,
  'granted',
  'released',
  'circle',
  'deadlock named',
  'failed with LOCK_DEADLOCK',
  'failed with LOCK_TIMEOUT',
];
const OF_WRITES = ['write done', 'write refused', 'write unknown'];
const OF_HAND_OFFS = ['handed on', 'passed by', 'kept'];
const OF_A_READ_WRITE_LOCK = ['re-entered', 'downgraded', 'failed with LOCK_UPGRADE'];

/** With the events that have to occur many times, or the schedules prove nothing. */
const KINDS: [title: string, kind: Kind, events: readonly string[]][] = [
  ['A mutex', 'mutex', [...OF_LOCKS, 're-entered']],
  ['A read/write lock', 'read-write-lock', [...OF_LOCKS, ...OF_A_READ_WRITE_LOCK]],
  ['A semaphore', 'semaphore', OF_LOCKS],
  ['A semaphore mutex', 'semaphore-mutex', OF_LOCKS],
  ['A semaphore with a shared count', 'counted-semaphore', [...OF_LOCKS, 'count changed']],
  ['A multi-lock', 'multi-lock', [...OF_LOCKS, 're-entered']],
  ['A guarded write', 'guarded-write', [...OF_LOCKS, ...OF_WRITES]],
  ['A mutex that is handed on', 'handed-on', [...OF_LOCKS, ...OF_WRITES, ...OF_HAND_OFFS]],
  ['A read lock that is shared', 'shared-reads', [...OF_LOCKS, ...OF_WRITES, 'shared']],
  ['A lock whose session a worker keeps', 'kept-session', OF_LOCKS],
  ['A lock with several callers in a client', 'crowd', [...OF_CROWDS, ...OF_A_READ_WRITE_LOCK]],
  ['Locks inside of locks', 'deadlock', OF_DEADLOCKS],
  ['A leader latch', 'leader-latch', [...OF_ELECTIONS, ...OF_A_LATCH]],
  ['A leader selector', 'leader-selector', OF_ELECTIONS],
  ['A distributed atomic long', 'atomic-long', OF_COUNTERS],
  ['A shared count that is a distributed atomic integer', 'shared-count', OF_COUNTERS],
];

/**
 * The schedules run in a process of their own, which takes two thirds of the time: in the context that Jest creates for a test
 * file, every use of a global is slow.
 */
describe.each(KINDS)('%s in random accidents', (title, kind, events) => {
  const run = async (runs: number): Promise<SchedulesReport> => {
    program.tell(`${kind} ${SEED} ${runs}`);
    const report = await program.next<SchedulesReport>();
    const { failure } = report;
    if (failure) throw new Error(`${replay(failure.seed)}\n\n${failure.accusation}`);
    return report;
  };
  const replay = (seed: number) =>
    `To replay it: SIMULATION_SEED=${seed} SIMULATION_RUNS=1 npm test -- test/simulation/schedules.spec -t '${title} in random'`;

  it(
    `keeps its promises in ${RUNS} schedules from seed ${SEED}`,
    async () => {
      const counts = new Map((await run(RUNS)).counts);
      const rare = events.filter((event) => (counts.get(event) ?? 0) < RUNS / 15);
      if (RUNS >= 75) expect(rare).toEqual([]);
    },
    60_000 + RUNS * LONGEST,
  );

  it('goes the same way whenever a schedule is run again', async () => {
    expect((await run(1)).lines).toEqual((await run(1)).lines);
  });
});

let program: Program;
beforeAll(() => {
  program = new Program(new URL('./schedules-program.ts', import.meta.url));
});
afterAll(() => program.stop());
