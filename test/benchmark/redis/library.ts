import type { LockMaker } from './lock-maker.js';

/** What a library has of what is measured. Permits, and keys of a multi-lock, are as in `recipes.ts`. */
export interface Library {
  readonly lock: LockMaker;
  readonly semaphore?: LockMaker;
  readonly multiLock?: LockMaker;
}
