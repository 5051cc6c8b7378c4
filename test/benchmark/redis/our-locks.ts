import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { LockMaker } from './lock-maker.js';

/** Ours, as users have it. */
export function ourLocks(client: RedisLockClient): LockMaker {
  return (key) => {
    const mutex = client.mutex(key);
    return async () => {
      const lease = await mutex.acquire();
      return () => lease.release();
    };
  };
}
