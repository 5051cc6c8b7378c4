import cluster from 'node:cluster';
import { startReplica } from './start-replica.js';
import { watchReplicas } from './watch-replicas.js';

if (cluster.isWorker) {
  await startReplica();
} else {
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopped.abort());
  const ticks = process.argv.includes('--once') ? 3 : Infinity;
  await watchReplicas(ticks, stopped.signal).catch((error: Error) => {
    if (stopped.signal.aborted) return;
    console.error(`cron: ${error.message}`);
    process.exitCode = 1;
  });
}
