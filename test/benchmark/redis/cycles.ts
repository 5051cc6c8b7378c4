import { alternately, mediansOf, percentile } from '../measuring.js';
import { peerRow, row, type Row } from '../row.js';
import type { Cycles, CyclesTaken, RedisContestants } from './contestants.js';

const FLOOR_TARGET = 1.15;
/** No peer is ahead. */
const PEERS_TARGET = 1;
/** The warm-up is for Java's compiler, and for ours. */
const UNCONTENDED_ROUNDS = { rounds: 40, warmUp: 20 };

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
    rows.push(...(await uncontendedIn({ ...libraries, floor: floor! }, lanes)));
    if (Redisson) rows.push(...(await uncontendedIn({ ours: libraries.ours!, Redisson }, lanes)));
  }
  return rows;
}

async function uncontendedIn(contestants: RedisContestants, lanes: number): Promise<Row[]> {
  const count = lanes === 1 ? 200 : 1_000;
  const measured = await alternately(
    contestants,
    (contestant) => contestant.cycles({ keys: lanes, lanes, count }),
    UNCONTENDED_ROUNDS,
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
  return [
    row(name, unit, values.ours!, floor, isJudged ? FLOOR_TARGET : null, higherIsBetter),
    beside,
  ];
}

/** No peer is ahead. */
const JUDGED = { target: 1, higherIsBetter: true };
const ROUNDS = { rounds: 20, warmUp: 20 };

/** What is measured of the recipes, by the names of their contestants. */
export interface RecipeContestants {
  readonly semaphore: RedisContestants;
  readonly oneSlot: RedisContestants;
  readonly manySlots: RedisContestants;
}

/** A semaphore that ten want, and locks of five keys that nobody else wants; acquire + release. */
export async function recipes(contestants: RecipeContestants): Promise<Row[]> {
  const { semaphore, oneSlot, manySlots } = contestants;
  const contended = { keys: 1, lanes: 10, count: 100 };
  const alone = { keys: 1, lanes: 1, count: 400 };
  return [
    ...(await cycles('semaphore of 3, 10 contend, cycles', semaphore, contended)),
    ...(await cycles('multi-lock of 5 in one slot, cycles', oneSlot, alone)),
    ...(await cycles('multi-lock of 5 in different slots, cycles', manySlots, alone)),
  ];
}

/** Beside the floor, where there is one, and the peers; Redisson apart, whose machine has work to do after its turns. */
async function cycles(
  name: string,
  { Redisson, ...libraries }: RedisContestants,
  asked: Cycles,
): Promise<Row[]> {
  const { floor, ...rates } = await ratesOf(libraries, asked);
  const rows = [peerRow(name, '1/s', rates, JUDGED)];
  if (floor !== undefined) rows.unshift(row(name, '1/s', rates.ours!, floor, null, true));
  if (Redisson) {
    const beside = await ratesOf({ ours: libraries.ours!, Redisson }, asked);
    rows.push(peerRow(name, '1/s', beside, JUDGED));
  }
  return rows;
}

async function ratesOf(contestants: RedisContestants, asked: Cycles) {
  const measured = await alternately(contestants, (contestant) => contestant.cycles(asked), ROUNDS);
  return mediansOf(measured, ({ took }) => asked.count / (took / 1_000));
}
