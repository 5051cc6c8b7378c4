// Uses a lock in the main thread, and tries to in two workers. Arguments: the connect string, and the driver of the workers if
// they may not choose. Says what came of it.
import { once } from 'node:events';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { createZooKeeperLockClient } from '../../../lib/zookeeper/create-zookeeper-lock-client.js';
import type { ZooKeeperLockOptions } from '../../../lib/zookeeper/zookeeper-options.js';

if (isMainThread) {
  const [connect, driver] = process.argv.slice(2);
  const client = await createZooKeeperLockClient('main', { connect: connect! });
  await client.connect();
  const options = { workerData: { connect, driver } };
  const workers = [0, 1].map(() => new Worker(new URL(import.meta.url), options));
  const outcomes = await Promise.all(workers.map(async (worker) => once(worker, 'message')));
  await Promise.all(workers.map((worker) => worker.terminate()));
  await client.mutex('main').using(() => {});
  await client.close();
  process.send!(outcomes.flat());
  process.disconnect();
} else {
  const outcome = await useLock(workerData as ZooKeeperLockOptions).catch(
    (error: unknown) => error,
  );
  const { code, message } = outcome as { code?: string; message?: string };
  parentPort!.postMessage({ code, message });
}

async function useLock(options: ZooKeeperLockOptions): Promise<{ code: string }> {
  const client = await createZooKeeperLockClient('worker', options);
  await client.connect();
  await client.mutex('worker').using(() => {});
  await client.close();
  return { code: 'held' };
}
