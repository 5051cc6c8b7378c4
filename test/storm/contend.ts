import { setTimeout as delay } from 'node:timers/promises';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import type { Mutex } from '../../lib/core/lock.js';
import type { ExclusiveFile } from './exclusive-file.js';

/** Result of the contention. */
export interface Contention {
  grants: number;
  timeouts: number;
  losses: number;
}

/** Acquires the lock for a short while, waits for it, gives up at times, again and again until `isOver`. */
export async function contend(
  mutex: Mutex,
  file: ExclusiveFile,
  count: Contention,
  isOver: () => boolean,
): Promise<void> {
  for (let round = 0; !isOver(); round++) {
    const lease = await mutex.acquire({ wait: round % 5 === 0 ? 20 : 10_000 }).catch(timedOut);
    if (lease === undefined) count.timeouts += 1;
    else await hold(lease, file, count);
    await delay(5);
  }
}

function timedOut(error: unknown): undefined {
  if (!(error instanceof LockTimeoutError)) throw error;
}

async function hold(lease: Lease, file: ExclusiveFile, count: Contention): Promise<void> {
  let isInside = true;
  const leave = () => {
    if (isInside) file.leave();
    isInside = false;
  };
  if (!lease.isHeld) return lease.release(); // lost before it could be checked
  file.enter();
  count.grants += 1;
  lease.signal.addEventListener('abort', () => {
    count.losses += 1;
    leave(); // at once: another process may be granted the lock from now on
  });
  await delay(10);
  leave();
  await lease.release();
}
