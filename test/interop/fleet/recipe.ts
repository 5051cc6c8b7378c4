/** A worker of the fleet that holds the lock. */
export interface Inside {
  readonly worker: string;
  readonly lock: string;
}

/** What the fleet contends for. */
export interface Recipe {
  readonly name: string;
  /** Directories that the recipe creates below the path of the lock. Default none. */
  readonly directories?: readonly string[];
  /** Number of permits of a semaphore that has to exist before. */
  readonly permits?: number;
  /** Whether the lock is granted in the order of the holds' numbers. */
  readonly isOrdered: boolean;
  /** Whether some workers have to wait until others rest. Default false. */
  readonly starves?: boolean;
  /** Whether each worker is granted it once per round, after all have ended the round before. Default false. */
  readonly isInRounds?: boolean;
  /** True if the servers do not know the holder. Then no worker is frozen while it holds. Default false. */
  readonly isAnonymous?: boolean;
  /** The lock that the worker with that number acquires. */
  lock(path: string, worker: number): string;
  /** Whether a worker may be granted `lock` while the others hold theirs. */
  admits(lock: string, others: readonly Inside[]): boolean;
}
