import { LockKeyError } from '../../core/errors/index.js';
import type { LockSettings } from './lock-settings.js';

/**
 * The error for a node that was changed 2^32 - 1 times, so that its version is -1: in a request that stands for any version
 * (ZOOKEEPER-4743), and a set would not depend on what was seen.
 */
export function anyVersionError({ key, path }: LockSettings, client: string): LockKeyError {
  const why = `the version of ${path} has come round to -1, which the servers take for any; set it once whatever it is, and it goes on`;
  return new LockKeyError(key, why, { client });
}
