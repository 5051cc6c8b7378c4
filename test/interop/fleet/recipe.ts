/** One worker of the fleet that is inside of the lock. */
export interface Inside {
  readonly worker: string;
  readonly lock: string;
}

/** What the fleet contends for. */
export interface Recipe {
  readonly name: string;
  /** Directories that the recipe makes below the path of the lock. */
  readonly directories: readonly string[];
  /** Is the lock granted in the order of the nodes' numbers? */
  readonly isOrdered: boolean;
  /** The lock that the worker of that number takes. */
  lock(path: string, worker: number): string;
  /** May a worker be granted `lock` while the others are inside? */
  admits(lock: string, others: readonly Inside[]): boolean;
}

const mutex: Recipe = {
  name: 'mutex',
  directories: [],
  isOrdered: true,
  lock: (path) => `mutex:${path}`,
  admits: (_, others) => others.length === 0,
};

const isWrite = (lock: string) => lock.startsWith('write:');
const readWrite: Recipe = {
  name: 'read/write',
  directories: [],
  isOrdered: false,
  lock: (path, worker) => `${worker % 2 === 0 ? 'read' : 'write'}:${path}`,
  admits: (lock, others) =>
    isWrite(lock) ? others.length === 0 : !others.some((other) => isWrite(other.lock)),
};

const PERMITS = 3;
const semaphore: Recipe = {
  name: `semaphore(${PERMITS})`,
  directories: ['locks', 'leases'],
  isOrdered: false,
  lock: (path) => `semaphore#${PERMITS}:${path}`,
  admits: (_, others) => others.length < PERMITS,
};

/** Each of them is given its turn. */
export const RECIPES: readonly Recipe[] = [mutex, readWrite, semaphore];
