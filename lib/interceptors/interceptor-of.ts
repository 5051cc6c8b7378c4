import { LockInterceptorMissingError } from '../core/index.js';
import { INTERCEPTOR_PROPERTY } from '../lock.constants.js';
import type { LockInterceptor } from './lock.interceptor.js';

/**
 * The interceptor that Nest has given to `instance`.
 *
 * @throws LockInterceptorMissingError when there is none: the instance was not made by Nest, or is not there at all
 */
export function interceptorOf(instance: unknown, method: string): LockInterceptor {
  const interceptor = (
    instance as { [INTERCEPTOR_PROPERTY]?: LockInterceptor } | null | undefined
  )?.[INTERCEPTOR_PROPERTY];
  if (interceptor === undefined) throw new LockInterceptorMissingError(method);
  return interceptor;
}
