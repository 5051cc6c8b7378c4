import type { LockMethodOptions, OnBusy } from './lock-method-options.interface.js';

/**
 * Options of `@LockDefaults`: what the lock decorators of a class are taken to say where they say nothing themselves.
 *
 * With an `onBusy` that gives a result, see to it that the methods promise it: the compiler does not.
 */
export interface LockDefaultsOptions extends LockMethodOptions<unknown[], OnBusy<unknown[]>> {}
