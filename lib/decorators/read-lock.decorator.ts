import type { ReadWriteLockOptions } from '../core/index.js';
import { type KeyLockDecorator, lockByKey } from './lock-by-key.js';

/**
 * Runs the method while holding the read lock of that key: concurrently with other readers, and never while a `@WriteLock`
 * method of the same key runs. Requests are served in order of arrival, so a reader waits for a writer that is already queued.
 *
 * Inside a `@WriteLock` method of the same key it is granted at once, and remains held when that method ends: a downgrade. The
 * other way round, the call of the writer rejects with `LockUpgradeError`. Otherwise as `@WithMutex`.
 *
 * @param key as for `@WithMutex`; it must not also be the key of a mutex or a semaphore
 * @param options with `handOff` the calls of one process share the lock: see `ReadWriteLockOptions`
 * @throws LockDecoratorTargetError, LockOptionsError, LockKeyError at class definition, naming class and method
 *
 * @example
 * ```ts
 * @ReadLock('prices')
 * async quote(order: Order): Promise<Quote> { … }
 * ```
 */
export const ReadLock: KeyLockDecorator<ReadWriteLockOptions> = lockByKey('ReadLock', 'readLock');
