// Takes locks and permits on Redis, and keeps them, by one of these roles:
// `holder`: is stopped, when it was asked to `watch` for that, or to `block` its event loop, for longer than its leases last;
// then it says what it knows of them: what it learns when it asks at once, and which signals have fired one turn on.
// `permits`: takes all permits of the semaphores. `fair`, `writer`: waits for a lock, and says when it does.
// Arguments: the port, the lease in ms, the role, the key or keys.
import { setImmediate as nextPhase } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { LockLostError } from '../../../lib/core/errors/index.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';

const [, , port, lease, role, key, ...keys] = process.argv;
const duration = Number(lease);
const redis = new Redis(Number(port));
const client = await createRedisLockClient('holder', { client: redis, watchdogTimeout: duration });
await client.connect();
process.once('disconnect', () => process.exit());

const roles: Record<string, () => Promise<unknown>> = {
  holder: hold,
  permits: () => Promise.all([key!, ...keys].map(takeAll)),
  fair: () => waitFor(client.mutex(key!, { fair: true })),
  writer: () => waitFor(client.readWriteLock(key!, { preferWriters: true }).writeLock()),
};
await roles[role!]!();
process.send!('held');

async function takeAll(name: string): Promise<void> {
  const semaphore = client.semaphore(name, { permits: 3 });
  await Promise.all([semaphore.acquire({ permits: 2 }), semaphore.acquire()]);
}

async function waitFor(lock: { acquire(): Promise<unknown> }): Promise<void> {
  client.on('contended', () => process.send!('waiting'));
  await lock.acquire();
}

async function hold(): Promise<void> {
  const asked = await client.mutex(key!).acquire();
  const semaphores = ['semaphore', 'fair semaphore'].map((name) =>
    client.semaphore(`${key} ${name}`, { permits: 3 }),
  );
  const [renewed, fixed] = [{}, { lease: duration }];
  const others = [
    await client.mutex(`${key} renewed`).acquire(renewed),
    await client.mutex(`${key} fixed`).acquire(fixed),
    ...(await Promise.all(semaphores.map((all) => all.acquire({ permits: 2 })))),
    ...(await Promise.all(semaphores.map((all) => all.acquire(fixed)))),
  ];
  const signals = others.map(({ signal }) => signal);
  const permits = others.slice(2);

  const isRefused = () => {
    try {
      asked.assertHeld();
      return false;
    } catch (error) {
      return error instanceof LockLostError;
    }
  };
  const report = async () => {
    const isHeld = [asked, ...permits].some((each) => each.isHeld || each.remaining() > 0);
    const atOnce = { isHeld, isRefused: isRefused() };
    await nextPhase(); // the end of this turn
    await nextPhase(); // the end of the next one
    const areTold = signals.every(({ reason }) => reason instanceof LockLostError);
    process.send!({ ...atOnce, isAborted: asked.signal.aborted, areTold });
    await Promise.all(permits.map((each) => each.release()));
    process.send!('released');
  };

  const block = () => {
    const sleeper = new Int32Array(new SharedArrayBuffer(4));
    Atomics.wait(sleeper, 0, 0, 1.2 * duration);
    void report();
  };
  const watch = () => {
    let lastSeen = performance.now();
    const watching = setInterval(() => {
      const silence = performance.now() - lastSeen;
      lastSeen = performance.now();
      if (silence < duration / 2) return;
      clearInterval(watching);
      void report();
    }, 5);
    process.send!('watching');
  };
  process.on('message', (order) => (order === 'watch' ? watch() : block()));
}
