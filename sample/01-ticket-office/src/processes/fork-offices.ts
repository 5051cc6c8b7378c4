import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { SeatStoreModule } from '../seats/seat-store.module.js';
import type { BoxOffice } from './box-office.js';
import { startApp } from './start-app.js';

/** Starts `count` processes that all serve on one port, and the seat store that they share in this one. */
export async function forkOffices(count: number): Promise<BoxOffice> {
  const store = await startApp(SeatStoreModule, 0);
  const STORE_URL = `${await store.getUrl()}/seats`;
  cluster.setupPrimary({ exec: fileURLToPath(new URL('./office-process.js', import.meta.url)) });
  const workers = Array.from({ length: count }, () => cluster.fork({ STORE_URL }));
  const close = async () => {
    await Promise.all(workers.map(stop));
    await store.close();
  };
  try {
    const [port] = await Promise.all(workers.map(portOf));
    return { url: `http://127.0.0.1:${port}`, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The port of a worker, once it serves. */
function portOf(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.once('listening', ({ port }) => resolve(port));
    worker.once('exit', () => reject(new Error('an office process could not start, see above')));
  });
}

async function stop(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const exited = once(worker, 'exit');
  worker.process.kill('SIGTERM');
  await exited;
}
