import type { LockBackendOptions } from './lock-module-options.interface.js';

/** A provider that makes the options of a lock client. */
export interface LockOptionsFactory {
  /** Called once, when Nest makes the client. */
  createLockOptions(): Promise<LockBackendOptions> | LockBackendOptions;
}
