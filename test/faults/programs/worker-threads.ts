// Uses the driver in the main thread, and tries to in two workers. Arguments: the connect string. Says what came of it.
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createZooKeeperLockClient } from '../../../lib/zookeeper/create-zookeeper-lock-client.js';

if (isMainThread) {
  const connect = process.argv[2]!;
  const client = await createZooKeeperLockClient('main', { connect });
  await client.connect();
  const workers = [0, 1].map(() => new Worker(new URL(import.meta.url), { workerData: connect }));
  const outcomes = await Promise.all(workers.map(async (worker) => once(worker, 'message')));
  await Promise.all(workers.map((worker) => worker.terminate()));
  await client.mutex('main').using(() => {});
  await client.close();
  process.send!(outcomes.flat());
  process.disconnect();
} else {
  const outcome: unknown = await createZooKeeperLockClient('worker', {
    connect: workerData as string,
  }).catch((error: unknown) => error);
  const { code, message } = outcome as { code?: string; message?: string };
  parentPort!.postMessage({ code, message });
}
