/** One worker of the fleet that is inside of the lock. */
export interface Inside {
  readonly worker: string;
  readonly lock: string;
}

/** What the fleet contends for. */
export interface Recipe {
  readonly name: string;
  /** Directories that the recipe makes below the path of the lock. Default none. */
  readonly directories?: readonly string[];
  /** How many can be inside of a semaphore that has to be there before. */
  readonly permits?: number;
  /** Is the lock granted in the order of the holds' numbers? */
  readonly isOrdered: boolean;
  /** Do some have to wait until others rest? Default false. */
  readonly starves?: boolean;
  /** Is everybody granted it once a round, when all have ended the round before? Default false. */
  readonly isInRounds?: boolean;
  /** Can the servers not tell who holds it? Then nobody is frozen while he does. Default false. */
  readonly isAnonymous?: boolean;
  /** The lock that the worker of that number takes. */
  lock(path: string, worker: number): string;
  /** May a worker be granted `lock` while the others are inside? */
  admits(lock: string, others: readonly Inside[]): boolean;
}
