import type { Lock } from '../../../lib/core/lock.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { Library } from './library.js';
import { PERMITS, partsOf } from './quantities.js';

/** Ours, as users have it. */
export function ourLibrary(client: RedisLockClient): Library {
  return {
    lock: (key) => acquireOf(client.mutex(key)),
    semaphore: (key) => acquireOf(client.semaphore(key, { permits: PERMITS })),
    multiLock: (key) => acquireOf(client.multiLock(partsOf(key).map((part) => client.mutex(part)))),
  };
}

const acquireOf = (lock: Lock) => async () => {
  const lease = await lock.acquire();
  return () => lease.release();
};
