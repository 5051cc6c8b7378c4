import { alternately } from '../alternately.js';
import { mediansOf } from '../medians-of.js';
import { percentile } from '../percentile.js';
import { peerRow, row, type Row } from '../row.js';
import type { CyclesTaken, RedisContestants } from './redis-contestant.js';

const TARGET = 1.15;
/** No peer is ahead. */
const PEERS_TARGET = 1;
/** The warm-up is for Java's compiler, and for ours. */
const ROUNDS = { rounds: 40, warmUp: 20 };

/**
 * Acquire + release of locks that nobody else wants: beside the libraries in this process, with two bare scripts for the
 * floor; then beside Redisson, whose machine has work of its own to do after each of its turns.
 */
export async function uncontended({
  floor,
  Redisson,
  ...libraries
}: RedisContestants): Promise<Row[]> {
  const rows: Row[] = [];
  for (const lanes of [1, 10, 100]) {
    rows.push(...(await measure({ ...libraries, floor: floor! }, lanes)));
    if (Redisson) rows.push(...(await measure({ ours: libraries.ours!, Redisson }, lanes)));
  }
  return rows;
}

async function measure(contestants: RedisContestants, lanes: number): Promise<Row[]> {
  const count = lanes === 1 ? 200 : 1_000;
  const measured = await alternately(
    contestants,
    (contestant) => contestant.cycles({ keys: lanes, lanes, count }),
    ROUNDS,
  );
  const name = `${lanes} in flight`;
  const rates = mediansOf(measured, ({ took }) => count / (took / 1_000));
  return [
    ...compared(`acquire + release, ${name}, p50`, 'µs', timesOf(measured, 0.5), lanes === 1),
    ...compared(`acquire + release, ${name}, p99`, 'µs', timesOf(measured, 0.99), false),
    ...compared(`cycles, ${name}`, '1/s', rates, true, true),
  ];
}

function timesOf(measured: Readonly<Record<string, CyclesTaken[]>>, p: number) {
  const timeOf = (rounds: CyclesTaken[]) =>
    percentile(
      rounds.flatMap(({ times }) => times),
      p,
    );
  return Object.fromEntries(
    Object.entries(measured).map(([name, rounds]) => [name, timeOf(rounds)]),
  );
}

/** One row against the floor, where there is one, and one beside the peers. */
function compared(
  name: string,
  unit: string,
  { floor, ...values }: Record<string, number>,
  isJudged: boolean,
  higherIsBetter = false,
): Row[] {
  const target = isJudged ? PEERS_TARGET : null;
  const beside = peerRow(name, unit, values, { target, higherIsBetter });
  if (floor === undefined) return [beside];
  return [row(name, unit, values.ours!, floor, isJudged ? TARGET : null, higherIsBetter), beside];
}
