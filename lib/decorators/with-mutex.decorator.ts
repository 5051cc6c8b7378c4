import type { MutexOptions } from '../core/index.js';
import { type KeyLockDecorator, lockByKey } from './lock-by-key.js';

/**
 * Runs the method while holding the mutex of that key: of all calls with the same key, in all processes on the same servers,
 * one runs at a time. A nested call with the same key re-enters.
 *
 * The lock is acquired before the method runs and released after its promise has settled; its result and its errors pass
 * through unchanged. A call that is not granted the lock rejects with `LockTimeoutError`, unless `onBusy` says otherwise. It
 * rejects with `LockKeyError` if its key cannot name a lock, and otherwise as `Lock.acquire` does.
 *
 * Of several decorators, the top one is the outermost: put this one above `@Transactional()`, so that the lock is
 * released after the commit.
 *
 * @param key key to lock: a string, with placeholders like `'order:{0.id}'`, or a function of the arguments
 * @param options `fair` and `fenced` must be the same wherever the mutex is used, in every process
 * @throws LockDecoratorTargetError, LockOptionsError, LockKeyError at class definition, naming class and method
 *
 * @example
 * ```ts
 * @WithMutex((order: Order) => `order:${order.id}`, { wait: 5_000 })
 * async pay(order: Order, amount: number) { … }
 * ```
 */
export const WithMutex: KeyLockDecorator<MutexOptions> = lockByKey('WithMutex', 'mutex');
