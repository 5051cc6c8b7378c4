/** Which mutex it is. Everybody who uses the key has to choose the same. */
export interface RedisMutexOptions {
  /**
   * Whoever queued first is served first, across processes: Redisson's `RFairLock`. A waiter costs a command every third of
   * the `watchdogTimeout`.
   *
   * @default false
   */
  readonly fair?: boolean;
  /**
   * The fencing token comes with the grant, as from Redisson's `RFencedLock`; without, it is fetched when it is first asked
   * for.
   *
   * @default false
   */
  readonly fenced?: boolean;
}
