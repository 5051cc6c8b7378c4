import { describe, expect, it } from '@jest/globals';
import { simulate } from './simulate.js';

/** `SIMULATION_SEED=7 SIMULATION_RUNS=1` runs the schedule of seed 7 alone. */
const SEED = Number(process.env.SIMULATION_SEED ?? 1);
const RUNS = Number(process.env.SIMULATION_RUNS ?? 1_000);

/** What has to have happened many times, or the schedules show nothing. */
const EVENTS = [
  'granted',
  're-entered',
  'refused',
  'released',
  'fenced',
  'lost',
  'queued again',
  'taken',
  'session ended',
  'failed with LOCK_TIMEOUT',
  'failed with LOCK_ABORTED',
  'failed with LOCK_CLIENT_CLOSED',
  'CONNECTED',
  'SUSPENDED',
  'RECONNECTED',
  'LOST',
];

describe('A mutex in random accidents', () => {
  it(`keeps its promises in ${RUNS} schedules from seed ${SEED}`, async () => {
    process.stdout.write(`${RUNS} random schedules from seed ${SEED}\n`);
    const counts = new Map<string, number>();
    for (let seed = SEED; seed < SEED + RUNS; seed++) {
      const replay = `SIMULATION_SEED=${seed} SIMULATION_RUNS=1`;
      const seen = await simulate(seed).catch((cause: Error) => {
        throw new Error(`${replay}: ${cause.message}`, { cause });
      });
      for (const [kind, count] of seen) counts.set(kind, (counts.get(kind) ?? 0) + count);
    }
    const rare = EVENTS.filter((kind) => (counts.get(kind) ?? 0) < RUNS / 10);
    if (RUNS >= 100) expect(rare).toEqual([]);
  }, 600_000);

  it('goes the same way whenever a schedule is run again', async () => {
    expect([...(await simulate(SEED))]).toEqual([...(await simulate(SEED))]);
  });
});
