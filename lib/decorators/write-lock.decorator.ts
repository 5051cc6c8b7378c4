import { type KeyLockDecorator, lockByKey } from './lock-by-key.js';

/**
 * Runs the method while holding the write lock of that key: exclusively, without other writers and without `@ReadLock` methods
 * of the same key. A nested call with the same key re-enters, and a nested `@ReadLock` is a downgrade.
 *
 * Inside a `@ReadLock` method of the same key a call rejects with `LockUpgradeError`, at once and whatever `onBusy` says: it
 * would wait for its own caller. Otherwise as `@WithMutex`.
 *
 * @param key as for `@WithMutex`; it must not also be the key of a mutex or a semaphore
 * @throws LockDecoratorTargetError, LockOptionsError, LockKeyError at class definition, naming class and method
 *
 * @example
 * ```ts
 * @WriteLock('prices')
 * async reprice(): Promise<void> { … }
 * ```
 */
export const WriteLock: KeyLockDecorator = lockByKey('WriteLock', 'writeLock');
