import type { Lock, LockClient } from '../core/index.js';
import type { LockTarget } from '../interfaces/lock-target.interface.js';

/**
 * The lock of `key`.
 *
 * @throws LockKeyError, LockOptionsError
 */
export function makeLock(client: LockClient, target: LockTarget, key: string): Lock {
  switch (target.recipe) {
    case 'readLock':
      return client.readWriteLock(key).readLock();
    case 'writeLock':
      return client.readWriteLock(key).writeLock();
    case 'semaphore':
      return client.semaphore(key, { permits: target.permits });
    default:
      return client.mutex(key);
  }
}
