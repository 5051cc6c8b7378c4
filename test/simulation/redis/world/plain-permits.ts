import type { Lease } from '../../../../lib/core/lease.js';
import { LockName } from '../../../../lib/redis/connection/lock-name.js';
import type { RedisAcquireOptions } from '../../../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../../../lib/redis/redis-lock-client.js';
import type { Keyspace } from '../../../../lib/testing/redis/server/keyspace.js';
import type { ObservedLock } from './observed-locks.js';

/** So many permits at once of a semaphore whose permits have no owner. They are held until they are released: without a lease. */
export function plainPermits(key: string, total: number, count: number): ObservedLock {
  const available = (keyspace: Keyspace) => Number(keyspace.read(key, 'string') ?? 0);
  return {
    title: `${count} plain permits of ${key}`,
    name: new LockName(key),
    isFenced: false,
    isFair: false,
    share: count / total,
    of: (client) => asLock(client, key, count),
    endOf: () => Infinity,
    free: (keyspace) => available(keyspace) / total,
    isFree: (keyspace) => available(keyspace) >= count,
    get parts() {
      return [this];
    },
    inside: [],
  };
}

function asLock(
  client: RedisLockClient,
  key: string,
  permits: number,
): ReturnType<ObservedLock['of']> {
  const semaphore = client.plainSemaphore(key);
  const lease = () => {
    const { signal } = new AbortController();
    const release = () => semaphore.release(permits);
    return { holder: '', isHeld: true, signal, remaining: () => Infinity, release, hold: {} };
  };
  const optionsOf = ({ wait, signal }: RedisAcquireOptions) => ({ wait, signal, permits });
  const lock = {
    async acquire(options: RedisAcquireOptions) {
      await semaphore.acquire(optionsOf(options));
      return lease();
    },
    async tryAcquire(options: RedisAcquireOptions) {
      return (await semaphore.tryAcquire(optionsOf(options))) ? lease() : undefined;
    },
  };
  return lock as unknown as ReturnType<ObservedLock['of']> & { acquire(): Promise<Lease> };
}
