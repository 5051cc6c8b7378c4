/**
 * A write that a store carries out only if it still knows the holder of the lock, in the same step: see `Lease.guard`. Made by
 * `redisCommands`, `redisScript` and `zooKeeperOperations`.
 */
export interface GuardedWrite<R> {
  /** Where the lock has to be. The embedded backend counts as ZooKeeper. */
  readonly store: 'Redis' | 'ZooKeeper';
  /** Never set: it is there for the type of the result only. */
  readonly result?: R;
}
