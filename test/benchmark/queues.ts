import type { ZooKeeperServer } from '../support/zookeeper-server.js';
import { alternately } from './alternately.js';
import type { Contestant, Contestants } from './contestant.js';
import { mediansOf } from './medians-of.js';
import { peerRow, row, type Row } from './row.js';
import { untilIdle } from './until-idle.js';

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
