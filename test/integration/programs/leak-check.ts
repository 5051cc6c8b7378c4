// Takes, misses and gives up locks by the thousand. Argument: a connect string, or nothing for the embedded tree.
// Says the size of its heap after a warm-up and, asked for more, after the work; asked to close, it closes and ends.
import { once } from 'node:events';
import { createEmbeddedLockClient } from '../../../lib/embedded/create-embedded-lock-client.js';
import { createZooKeeperLockClient } from '../../../lib/zookeeper/create-zookeeper-lock-client.js';
import type { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';

const KEYS = 10;

const connect = process.argv[2];
const client: ZooKeeperLockClient = connect
  ? await createZooKeeperLockClient('leaks', { connect })
  : createEmbeddedLockClient('leaks');
await client.connect();

/** Acquires and releases, a few at a time. */
async function takeLocks(times: number): Promise<void> {
  const take = async (key: number) => {
    for (let i = 0; i < times / KEYS; i++) {
      const lease = await client.mutex(`key ${key}`).acquire({ wait: 10_000 });
      await lease.release();
    }
  };
  await Promise.all(Array.from({ length: KEYS }, (_, key) => take(key)));
}

/** Waits in vain, a hundred at a time; `giveUp` says for what. */
async function missLocks(times: number, giveUp: () => object): Promise<void> {
  await using _ = await client.mutex('taken').acquire();
  for (let missed = 0; missed < times; missed += 100) {
    const waits = Array.from({ length: 100 }, () => client.mutex('taken').acquire(giveUp()));
    const results = await Promise.allSettled(waits);
    if (results.some(({ status }) => status === 'fulfilled'))
      throw new Error('a taken lock was granted');
  }
}

async function work(times: number): Promise<void> {
  await takeLocks(10 * times);
  await missLocks(times, () => ({ wait: 20 }));
  await missLocks(times, () => ({ signal: AbortSignal.timeout(20) }));
}

async function tellHeap(): Promise<void> {
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc!();
  }
  process.send!(process.memoryUsage().heapUsed);
}

const told = once(process, 'message');
await work(200);
await tellHeap();
await told;
const toldToClose = once(process, 'message');
await work(1_000);
await tellHeap();
await toldToClose;
await client.close();
process.disconnect();
