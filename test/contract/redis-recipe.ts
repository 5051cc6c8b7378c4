import type { Mutex } from '../../lib/core/lock.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';

/** Which locks of a client on Redis a suite is about. */
export interface RedisRecipe {
  mutex(locks: RedisLockClient, key: string): Mutex;
  /** Name of the client in its errors; none where its parts may belong to several. */
  readonly client?: string;
  /** Key of the lock that all callers of the mutex begin with. Default: its own. */
  firstKey?(key: string): string;
  /** Do the waiters ask again and again, and listen to nothing? Default false. */
  readonly isSpinning?: boolean;
  /** Of read/write locks. Default false. */
  readonly preferWriters?: boolean;
}
