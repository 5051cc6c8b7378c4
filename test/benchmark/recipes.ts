import type { ZooKeeperServer } from '../support/zookeeper-server.js';
import { alternately } from './alternately.js';
import type { Contestants, Recipe } from './contestant.js';
import { receivedRequests } from './received-requests.js';
import { peerRow, type Row } from './row.js';
import { mediansOf } from './medians-of.js';

interface Case {
  readonly name: string;
  readonly recipe: Recipe;
  readonly lanes: number;
  /** Cycles of a round: some hundredths of a second, so that the turns change faster than the machine's mood. */
  readonly count: number;
  readonly target: number | null;
}

const TARGET = 1.4;
const CASES: readonly Case[] = [
  { name: 'mutex', recipe: 'mutex', lanes: 1, count: 100, target: TARGET },
  { name: 'read lock', recipe: 'readLock', lanes: 1, count: 100, target: TARGET },
  { name: 'write lock', recipe: 'writeLock', lanes: 1, count: 100, target: TARGET },
  { name: 'semaphore of 1', recipe: 'semaphore:1', lanes: 1, count: 50, target: TARGET },
  { name: 'semaphore mutex', recipe: 'semaphoreMutex', lanes: 1, count: 50, target: TARGET },
  { name: 'multi-lock of 5', recipe: 'multiLock', lanes: 1, count: 20, target: TARGET },
  {
    name: 'semaphore of 3, 10 contend',
    recipe: 'semaphore:3',
    lanes: 10,
    count: 100,
    target: null,
  },
];
/** The warm-up is long enough for Java's optimising compiler, which wants some 10,000 calls. */
const ROUNDS = { rounds: 100, warmUp: 100 };

/** Acquire + release of every recipe by one client. */
export async function recipes(server: ZooKeeperServer, contestants: Contestants): Promise<Row[]> {
  const rows: Row[] = [];
  for (const { name, recipe, lanes, count, target } of CASES) {
    const measured = await alternately(
      contestants,
      async (contestant, who) => {
        const before = await receivedRequests(server);
        const took = await contestant.cycles(recipe, `/${who}-${recipe}`, lanes, count);
        const requests = (await receivedRequests(server)) - before - 1; // the question is one too
        return { rate: count / (took / 1_000), requests: requests / count };
      },
      ROUNDS,
    );
    const rates = mediansOf(measured, ({ rate }) => rate);
    const requests = mediansOf(measured, ({ requests }) => requests);
    rows.push(peerRow(`${name}, cycles`, '1/s', rates, { target, higherIsBetter: true }));
    rows.push(peerRow(`${name}, requests a cycle`, 'requests', requests));
  }
  return rows;
}
