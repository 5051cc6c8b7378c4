import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Run } from './run.js';
import { middleOf, tickAt } from './schedule.js';

const REPLICAS = ['1', '2', '3'];
const HOW: Run['how'][] = ['no lock', '@RunOnce'];

/** Starts the replicas and prints, tick by tick, which of them ran. */
export async function watchReplicas(ticks: number, stopped: AbortSignal): Promise<void> {
  const runs: Run[] = [];
  const workers = REPLICAS.map((replica) => cluster.fork({ REPLICA: replica }));
  try {
    await Promise.all(workers.map(isReady));
    for (const worker of workers) worker.on('message', (run: Run) => runs.push(run));
    console.log(`A digest is due every two seconds, on ${REPLICAS.length} replicas.\n`);
    const first = tickAt(Date.now()) + 1; // the one under way has begun without some of them
    for (let tick = first; tick < first + ticks; tick++) {
      await pause(middleOf(tick) - Date.now(), undefined, { signal: stopped });
      console.log(HOW.map((how) => describe(how, runs, tick)).join('   '));
    }
  } finally {
    await Promise.all(workers.map(stop));
  }
}

function describe(how: Run['how'], runs: readonly Run[], tick: number): string {
  const replicas = runs.filter((run) => run.how === how && run.tick === tick);
  const names = replicas.map(({ replica }) => replica).toSorted();
  return `${how}: ${names.length} sent, by ${names.join(', ') || 'nobody'}`;
}

function isReady(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('exit', () => reject(new Error('a replica could not start, see above')));
  });
}

async function stop(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const exited = once(worker, 'exit');
  worker.process.kill('SIGTERM');
  await exited;
}
