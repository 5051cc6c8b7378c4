// Takes permits of a semaphore on Redis and is stopped, when it was asked to watch for that, for longer than their leases
// last. Then it says what it knows of them: what it learns when it asks at once, and which signals have fired one turn of
// the event loop on.
// Arguments: the port, the key, the lease in ms.
import { setImmediate as nextPhase } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { LockLostError } from '../../../lib/core/errors/index.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';

const [, , port, key] = process.argv;
const duration = Number(process.argv[4]);
const redis = new Redis(Number(port));
const client = await createRedisLockClient('holder', { client: redis, watchdogTimeout: duration });
await client.connect();

const semaphore = client.semaphore(key!, { permits: 3 });
const leases = [
  await semaphore.acquire({ permits: 2 }),
  await semaphore.acquire({ lease: duration }),
];

async function report(): Promise<void> {
  const held = leases.map(({ isHeld }) => isHeld);
  const remaining = leases.map((lease) => lease.remaining());
  await nextPhase(); // the end of this turn
  await nextPhase(); // the end of the next one
  const told = leases.map(({ signal }) => signal.reason instanceof LockLostError);
  process.send!({ held, remaining, told });
  await Promise.all(leases.map((lease) => lease.release()));
  process.send!('released');
}

/** Reports when it was stopped for long. */
function watch(): void {
  let lastSeen = performance.now();
  const watching = setInterval(() => {
    const silence = performance.now() - lastSeen;
    lastSeen = performance.now();
    if (silence < duration / 2) return;
    clearInterval(watching);
    void report();
  }, 5);
  process.send!('watching');
}

process.on('message', watch);
process.once('disconnect', () => process.exit());
process.send!('held');
