import type { Wait } from '../core/lock.js';

/** Options of a lock client on the embedded tree. */
export interface EmbeddedLockOptions {
  /**
   * Bound of an acquire that names none: milliseconds above 0, or `'forever'`.
   *
   * @default 'forever'
   */
  readonly wait?: Wait;
  /**
   * Directory of all keys.
   *
   * @default '/locks'
   */
  readonly basePath?: string;
  /**
   * Is a key that starts with `/` the path itself? As on ZooKeeper.
   *
   * @default false
   */
  readonly literalPaths?: boolean;
}
