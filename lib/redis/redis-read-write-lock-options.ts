/** How a read/write lock decides between readers and writers. */
export interface RedisReadWriteLockOptions {
  /**
   * Readers of this library wait for a writer of this library that waits, so that readers who overlap do not keep it out.
   * Redisson's neither respect nor cause it.
   *
   * @default false
   */
  readonly preferWriters?: boolean;
}
