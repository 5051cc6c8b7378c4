import type { Clock } from '../core/clock.js';
import type { LockClient } from '../core/lock-client.js';
import { validateLease } from '../redis/locks/redis-lease.js';
import { leasedLock } from './leased-lock.js';
import { standIn } from './stand-in.js';

/** `client`, with the `lease` of Redis for all of its locks. */
export function leasedClient(client: LockClient, clock: Clock): LockClient {
  const { name } = client;
  return standIn(client, {
    validateLease: (lease) => validateLease('lease', lease, { client: name }),
    mutex: (key) => leasedLock(client.mutex(key), clock, name),
    semaphoreMutex: (key) => leasedLock(client.semaphoreMutex(key), clock, name),
    semaphore: (key, options) => leasedLock(client.semaphore(key, options), clock, name),
    readWriteLock: (key) => {
      const lock = client.readWriteLock(key);
      return {
        key,
        readLock: () => leasedLock(lock.readLock(), clock, name),
        writeLock: () => leasedLock(lock.writeLock(), clock, name),
      };
    },
  });
}
