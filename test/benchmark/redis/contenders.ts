import { setTimeout as delay } from 'node:timers/promises';
import { alternately } from '../alternately.js';
import { mediansOf } from '../medians-of.js';
import { peerRow, row, type Row } from '../row.js';
import type { LockMaker } from './lock-maker.js';

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
