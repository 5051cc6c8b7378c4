import type { Lock, LockClient } from '../core/index.js';
import type { LockTarget } from '../interfaces/lock-key.interface.js';
import type { RunOnceTarget } from '../interfaces/lock-plan.interface.js';

/**
 * The lock of `key`.
 *
 * @throws LockKeyError, LockOptionsError
 */
export function makeLock(
  client: LockClient,
  target: LockTarget | RunOnceTarget,
  key: string,
): Lock {
  switch (target.recipe) {
    case 'readLock':
      return client.readWriteLock(key).readLock();
    case 'writeLock':
      return client.readWriteLock(key).writeLock();
    case 'semaphore':
      return client.semaphore(key, { permits: target.permits });
    case 'semaphoreMutex':
      return client.semaphoreMutex(key);
    default:
      return client.mutex(key);
  }
}
