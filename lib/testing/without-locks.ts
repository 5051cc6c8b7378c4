import type { ValueProvider } from '@nestjs/common';
import type { LockInterceptor } from '../interceptors/lock.interceptor.js';
import { LOCK_INTERCEPTOR } from '../lock.constants.js';

const unlocked: Pick<LockInterceptor, 'around'> = {
  around: async (_plan, _args, proceed) => proceed(),
};

/**
 * Provider in place of LockModule, for a unit test that is not about locks: locked methods run without their locks.
 * Inside such a method there is no `currentLease()`.
 *
 * @example
 * ```ts
 * await Test.createTestingModule({ providers: [Orders, withoutLocks] }).compile();
 * ```
 */
export const withoutLocks: ValueProvider = { provide: LOCK_INTERCEPTOR, useValue: unlocked };
