// Takes locks on Redis and is stopped, when it was asked to watch for that, or to block its event loop, for longer than
// their leases last. Then it says what it knows of them: what it learns when it asks at once, and which signals have fired
// one turn of the event loop on.
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

const asked = await client.mutex(key!).acquire();
const renewed = (await client.mutex(`${key} renewed`).acquire()).signal;
const fixed = (await client.mutex(`${key} fixed`).acquire({ lease: duration })).signal;

function isRefused(): boolean {
  try {
    asked.assertHeld();
    return false;
  } catch (error) {
    return error instanceof LockLostError;
  }
}

async function report(): Promise<void> {
  const atOnce = { isHeld: asked.isHeld, isRefused: isRefused() };
  await nextPhase(); // the end of this turn
  await nextPhase(); // the end of the next one
  const told = [renewed, fixed].map(({ reason }) => reason instanceof LockLostError);
  process.send!({ ...atOnce, isAborted: asked.signal.aborted, told });
}

function block(): void {
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(sleeper, 0, 0, 1.2 * duration);
  void report();
}

/** Reports when it was stopped for long. */
function watch(): void {
  let lastSeen = performance.now();
  setInterval(() => {
    const silence = performance.now() - lastSeen;
    lastSeen = performance.now();
    if (silence > duration / 2) void report();
  }, 5);
  process.send!('watching');
}

process.on('message', (order) => (order === 'watch' ? watch() : block()));
process.once('disconnect', () => process.exit());
process.send!('held');
