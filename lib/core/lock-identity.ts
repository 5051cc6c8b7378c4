/** The recipes, by their names in this library. */
export type LockRecipe =
  | 'mutex'
  | 'readLock'
  | 'writeLock'
  | 'semaphore'
  | 'semaphoreMutex'
  | 'multiLock'
  | 'leaderLatch'
  | 'leaderSelector';

/** Which lock this is: equal for all objects that stand for the same lock of the same client. */
export interface LockIdentity {
  /** The client, or what stands for it. */
  readonly scope: object;
  readonly recipe: LockRecipe;
  /** The name on the servers, the same in every process; on ZooKeeper the path. */
  readonly name: string;
  /** Name of the client: a multi-lock takes locks of one name in the order of their clients. */
  readonly client?: string;
}
