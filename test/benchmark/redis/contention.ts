import { setTimeout as delay } from 'node:timers/promises';
import { type Program } from '../../faults/support/program.js';
import { alternately, mediansOf, percentile } from '../measuring.js';
import { peerRow, row, type Row } from '../row.js';
import type { LockMaker, RedisContestants } from './contestants.js';

const ROUNDS = { rounds: 20, warmUp: 2 };
const FLOOR_TARGET = 1.5;
/** Times shorter than that of every library that polls. */
const POLLING_TARGET = 5;
/** The longest that the holder keeps it, in ms: a time of chance, more than a pause of those who poll. */
const LONGEST_HOLD = 400;

/** From the release by one contender to the grant to another one that waits: in this process, and in another one. */
export async function handOff(
  makers: Readonly<Record<string, LockMaker>>,
  publish: () => Promise<unknown>,
  other: Program,
): Promise<Row[]> {
  return [...(await within(makers)), ...(await between(makers, publish, other))];
}

async function within(makers: Readonly<Record<string, LockMaker>>): Promise<Row[]> {
  const measured = await alternately(
    makers,
    async (lockOn) => {
      const [first, second] = [lockOn('within'), lockOn('within')];
      const release = await first();
      const granted = second();
      await delay(Math.random() * LONGEST_HOLD);
      const begin = performance.now();
      const [releaseSecond] = await Promise.all([granted, release()]);
      const took = (performance.now() - begin) * 1_000;
      await releaseSecond();
      return took;
    },
    ROUNDS,
  );
  return [peerRow('hand-off in one process, p50', 'µs', of(measured, 0.5))];
}

/** The floor is a message from here that has the other one run one script. Both read the machine's monotonic clock. */
async function between(
  makers: Readonly<Record<string, LockMaker>>,
  publish: () => Promise<unknown>,
  other: Program,
): Promise<Row[]> {
  const floor: LockMaker = () => async () => publish;
  const measured = await alternately(
    { ...makers, floor },
    async (lockOn, who) => {
      const release = await lockOn('between')();
      other.tell(who);
      await other.next(); // it goes to wait
      await delay(5 + Math.random() * LONGEST_HOLD);
      const begin = process.hrtime.bigint();
      await release();
      return Number(BigInt(await other.next()) - begin) / 1_000;
    },
    ROUNDS,
  );
  const name = 'hand-off between processes';
  const [p50, p99] = [of(measured, 0.5), of(measured, 0.99)];
  const peers = { ...p50 };
  delete peers.floor;
  return [
    row(`${name}, p50`, 'µs', p50.ours!, p50.floor!, FLOOR_TARGET),
    row(`${name}, p99`, 'µs', p99.ours!, p99.floor!),
    peerRow(`${name}, p50`, 'µs', peers, { target: POLLING_TARGET }),
  ];
}

function of(measured: Readonly<Record<string, number[]>>, p: number): Record<string, number> {
  return Object.fromEntries(
    Object.entries(measured).map(([name, times]) => [name, percentile(times, p)]),
  );
}

const CONTENDERS = 10;
/** In ms. */
const WORK = 50;
/** How much longer than the work they may take together. */
const TARGET = 1.02;

/** Ten of one process, each of whom works for 50 ms while it holds the lock; ours against the work alone. */
export async function contenders(makers: Readonly<Record<string, LockMaker>>): Promise<Row[]> {
  const works = { ...makers, floor: undefined };
  const measured = await alternately(works, (lockOn) => (lockOn ? contend(lockOn) : work()), {
    rounds: 5,
    warmUp: 1,
  });
  const { floor, ...took } = mediansOf(measured, (round) => round.took);
  const outOfTurn = Math.max(...measured.ours!.map((round) => round.outOfTurn));
  const name = `${CONTENDERS} contenders × ${WORK} ms`;
  return [
    row(`${name}, all done, to the work alone`, 'ms', took.ours!, floor!, TARGET),
    peerRow(`${name}, all done`, 'ms', took),
    row(`${name}, served out of turn`, 'contenders', outOfTurn, null, 0),
  ];
}

async function contend(lockOn: LockMaker): Promise<{ took: number; outOfTurn: number }> {
  const served: number[] = [];
  const begin = performance.now();
  await Promise.all(
    Array.from({ length: CONTENDERS }, async (_, i) => {
      const release = await lockOn('contenders')();
      served.push(i);
      await delay(WORK);
      await release();
    }),
  );
  const outOfTurn = served.filter((contender, turn) => contender !== turn).length;
  return { took: performance.now() - begin, outOfTurn };
}

async function work(): Promise<{ took: number; outOfTurn: number }> {
  const begin = performance.now();
  for (let i = 0; i < CONTENDERS; i++) await delay(WORK);
  return { took: performance.now() - begin, outOfTurn: 0 };
}

const CALLERS = 1_000;

/** Many callers of one process who all want one lock, and let it go at once: until all were served. */
export async function crowd(contestants: RedisContestants): Promise<Row[]> {
  const measured = await alternately(
    contestants,
    (contestant) => contestant.cycles({ keys: 1, lanes: CALLERS, count: CALLERS }),
    { rounds: 1, warmUp: 0 }, // some take most of a minute for it
  );
  const took = mediansOf(measured, ({ took }) => took);
  return [peerRow(`${CALLERS} callers on one key, until all were served`, 'ms', took)];
}
