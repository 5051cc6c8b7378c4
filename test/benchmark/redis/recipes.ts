import { alternately } from '../alternately.js';
import { mediansOf } from '../medians-of.js';
import { peerRow, row, type Row } from '../row.js';
import type { Cycles, RedisContestants } from './redis-contestant.js';

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
