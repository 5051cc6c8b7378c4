import type { SemaphoreOptions } from '../core/index.js';
import type { LockMethodOptions, OnBusy } from './lock-method-options.interface.js';

/** Options of `@Semaphore`, on a method whose arguments begin with `A`. */
export interface SemaphoreMethodOptions<A extends unknown[] = never[], B = OnBusy<A>>
  extends LockMethodOptions<A, B>, SemaphoreOptions {}
