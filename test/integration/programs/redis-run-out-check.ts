// Takes locks on Redis by the thousand, each for a short lease that is left to run out. Arguments: the URL of a server, how many.
// Says the size of its heap after a warm-up and, asked for more, after the work; asked to close, it closes and ends.
import { once } from 'node:events';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';

const TOGETHER = 500;
const WARM_UP = 12_000; // what is remembered of a bounded number of names is full then
const [, , url, times] = process.argv;

const client = await createRedisLockClient('cooldowns', { connect: url! });
await client.connect();
let lost = 0;
let taken = 0;
client.on('lost', () => (lost += 1));

async function takeAndLeave(count: number): Promise<void> {
  for (const last = taken + count; taken < last;) {
    const once = Array.from({ length: TOGETHER }, () =>
      client.mutex(`once ${taken++}`).tryAcquire({ lease: 100, wait: 20_000 }),
    );
    if ((await Promise.all(once)).includes(undefined)) throw new Error('a new lock was taken');
  }
  while (lost < taken) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function tellHeap(): Promise<void> {
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc!();
  }
  process.send!(process.memoryUsage().heapUsed);
}

const told = once(process, 'message');
await takeAndLeave(WARM_UP);
await tellHeap();
await told;
const toldToClose = once(process, 'message');
await takeAndLeave(Number(times));
await tellHeap();
await toldToClose;
await client.close();
process.disconnect();
