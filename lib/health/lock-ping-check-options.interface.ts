import type { LockHealthOptions } from './lock-health-options.interface.js';

/** Options of `LockHealthIndicator.pingCheck`. */
export interface LockPingCheckOptions extends LockHealthOptions {
  /**
   * Name of the lock client.
   *
   * @default 'default'
   */
  readonly client?: string;
}
