import type { LockBackendOptions } from './lock-module-options.interface.js';

/** A provider that makes the options of a lock client. */
export interface LockOptionsFactory {
  createLockOptions(): Promise<LockBackendOptions> | LockBackendOptions;
}
