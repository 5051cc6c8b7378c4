import type { ZooKeeperServer } from '../support/zookeeper-server.js';
import type { Contestant, Contestants, Recipe } from './contestants.js';
import { alternately, mediansOf } from './measuring.js';
import { peerRow, type Row, row } from './row.js';
import { receivedRequests, untilIdle } from './server-requests.js';

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

const LENGTHS = [
  { waiters: 10, rounds: 30 },
  { waiters: 100, rounds: 20 },
  { waiters: 1_000, rounds: 11 },
];
const WARM_UP = 5;
/** How much dearer a hand-off may be with 1,000 waiters than with 10. */
const GROWTH_TARGET = 1.25;
const RATE_TARGET = 4;

/** Who can queue: the bare driver too. */
type Queuer = Pick<Contestant, 'queue' | 'serve'>;

/** Hand-offs in a queue for a mutex that is already there: everybody waits, then each waiter releases at once. */
export async function queues(
  server: ZooKeeperServer,
  contestants: Contestants,
  floor: Queuer,
): Promise<Row[]> {
  const rows: Row[] = [];
  const costs: number[] = [];
  for (const { waiters, rounds } of LENGTHS) {
    const all = { ...contestants, floor };
    const measured = await measure(server, all, { waiters, sessions: 1, rounds });
    const cost = mediansOf(measured, costOf);
    const rates = mediansOf(measured, rateOf);
    delete rates.floor;
    const target = waiters === 1_000 ? RATE_TARGET : null;
    costs.push(cost.ours!);
    rows.push(
      row(`hand-off, ${waiters} waiters`, 'µs', cost.ours!, cost.floor!),
      peerRow(`hand-offs, ${waiters} waiters of one client`, '1/s', rates, {
        target,
        higherIsBetter: true,
      }),
    );
  }
  rows.push(
    row('hand-off, 1000 waiters to 10', 'times', costs.at(-1)! / costs[0]!, null, GROWTH_TARGET),
  );
  const measured = await measure(server, contestants, { waiters: 1_000, sessions: 10, rounds: 7 });
  rows.push(
    peerRow('hand-offs, 1000 waiters of 10 clients', '1/s', mediansOf(measured, rateOf), {
      higherIsBetter: true,
    }),
  );
  return rows;
}

function measure(
  server: ZooKeeperServer,
  queuers: Readonly<Record<string, Queuer>>,
  { waiters, sessions, rounds }: { waiters: number; sessions: number; rounds: number },
): Promise<Record<string, number[][]>> {
  return alternately(
    queuers,
    async (queuer, who) => {
      await queuer.queue(`/${who}-queue`, waiters, sessions);
      await untilIdle(server);
      return queuer.serve();
    },
    { rounds, warmUp: WARM_UP },
  );
}

/** Hand-offs a second, to the last waiter. */
function rateOf(grantedAt: readonly number[]): number {
  return grantedAt.length / (grantedAt.at(-1)! / 1_000);
}

/** µs a hand-off until half of the queue is served; the first one is left out, as it wakes everybody from idleness. */
function costOf(grantedAt: readonly number[]): number {
  const half = grantedAt.length / 2;
  return ((grantedAt[half]! - grantedAt[0]!) / half) * 1_000;
}
