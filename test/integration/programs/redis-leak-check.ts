// Takes, misses and gives up locks on Redis by the thousand. Argument: the URL of a server.
// Says the size of its heap after a warm-up and, asked for more, after the work; asked to close, it closes and ends.
import { once } from 'node:events';
import type { Lock } from '../../../lib/core/lock.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';

const KEYS = 10;

const client = await createRedisLockClient('leaks', { connect: process.argv[2]! });
await client.connect();

const KINDS: ((key: string) => Lock)[] = [
  (key) => client.mutex(`mutex ${key}`),
  (key) => client.mutex(`fenced ${key}`, { fenced: true }),
  (key) => client.mutex(`fair ${key}`, { fair: true }),
  (key) => client.readWriteLock(`prices ${key}`).readLock(),
  (key) => client.readWriteLock(`prices ${key}`).writeLock(),
];

/** Acquires and releases, a few at a time, of which two want the same lock. */
async function takeLocks(times: number): Promise<void> {
  const take = async (key: number) => {
    for (let i = 0; i < times / KEYS; i++) {
      const lease = await KINDS[i % KINDS.length]!(`${key % (KEYS / 2)}`).acquire({ wait: 20_000 });
      await lease.release();
    }
  };
  await Promise.all(Array.from({ length: KEYS }, (_, key) => take(key)));
}

/** Acquires and releases locks that are never used again. */
async function takeLocksOnce(from: number, times: number): Promise<void> {
  for (let i = from; i < from + times; i++) {
    const lease = await client.mutex(`only ${i}`).acquire({ wait: 20_000 });
    await lease.release();
  }
}

/** Waits in vain, a hundred at a time; `giveUp` says for what. */
async function missLocks(times: number, giveUp: () => object): Promise<void> {
  for (const kind of KINDS.slice(0, 3)) {
    await using _ = await kind('taken').acquire();
    for (let missed = 0; missed < times / 3; missed += 100) {
      const waits = Array.from({ length: 100 }, () => kind('taken').acquire(giveUp()));
      const results = await Promise.allSettled(waits);
      if (results.some(({ status }) => status === 'fulfilled'))
        throw new Error('a taken lock was granted');
    }
  }
}

async function work(times: number, from: number): Promise<void> {
  await takeLocks(10 * times);
  await takeLocksOnce(from, times);
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
await work(200, 0);
await tellHeap();
await told;
const toldToClose = once(process, 'message');
await work(1_000, 1_000);
await tellHeap();
await toldToClose;
await client.close();
process.disconnect();
