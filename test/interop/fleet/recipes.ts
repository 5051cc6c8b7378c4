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
  /** The lock that the worker with that number acquires, of a fleet of that size. */
  lock(path: string, worker: number, fleet: number): string;
  /** Whether a worker may be granted `lock` while the others hold theirs. */
  admits(lock: string, others: readonly Inside[]): boolean;
}

/** A lock with one holder at a time, with the word for it in the names of locks. */
export function exclusiveRecipe(name: string, word: string, isOrdered: boolean): Recipe {
  return {
    name,
    isOrdered,
    lock: (path) => `${word}:${path}`,
    admits: (_, others) => others.length === 0,
  };
}

const isWrite = (lock: string) => lock.startsWith('write:');

/** A lock with many readers or one writer; of the workers of each language, one in `every` reads, the others write. */
export function readWriteRecipe(name: string, every: number): Recipe {
  return {
    name,
    isOrdered: false,
    lock: (path, worker) => `${worker % every === 0 ? 'read' : 'write'}:${path}`,
    admits: (lock, others) =>
      isWrite(lock) ? others.length === 0 : !others.some((other) => isWrite(other.lock)),
  };
}

const PERMITS = 3;
const semaphore: Recipe = {
  name: `semaphore(${PERMITS})`,
  directories: ['locks', 'leases'],
  isOrdered: false,
  lock: (path) => `semaphore#${PERMITS}:${path}`,
  admits: (_, others) => others.length < PERMITS,
};

/** What is contended for on ZooKeeper; each of them gets its turn. */
export const ZOOKEEPER_RECIPES: readonly Recipe[] = [
  exclusiveRecipe('mutex', 'mutex', true),
  readWriteRecipe('read/write', 2),
  semaphore,
];

/** A semaphore, with the word for it in the names of locks. */
function semaphoreRecipe(name: string, word: string): Recipe {
  return {
    name: `${name}(${PERMITS})`,
    permits: PERMITS,
    isOrdered: false,
    isAnonymous: true,
    lock: (path) => `${word}:${path}`,
    admits: (_, others) => others.length < PERMITS,
  };
}

const multiLock: Recipe = {
  ...exclusiveRecipe('multi-lock', '', false),
  isAnonymous: true,
  // In one slot, so that Node acquires them together.
  lock: (path) => ['a', 'b', 'c'].map((part) => `lock:{${path}}:${part}`).join('+'),
};

const latch: Recipe = {
  name: 'latch, in rounds',
  isOrdered: false,
  isInRounds: true,
  isAnonymous: true,
  lock: (path, _, fleet) => `rounds#${fleet}:${path}`,
  admits: () => true,
};

/** What is contended for on Redis; each of them gets its turn. */
export const REDIS_RECIPES: readonly Recipe[] = [
  exclusiveRecipe('lock', 'lock', false),
  exclusiveRecipe('fair lock', 'fair', false),
  exclusiveRecipe('fenced lock', 'fenced', true),
  // Readers that overlap all the time keep writers out.
  { ...readWriteRecipe('read/write lock, every other reads', 2), starves: true },
  readWriteRecipe('read/write lock, one in four reads', 4),
  exclusiveRecipe('spin lock', 'spin', false),
  multiLock,
  semaphoreRecipe('semaphore', 'semaphore'),
  semaphoreRecipe('permit-expirable semaphore', 'permits'),
  latch,
];
