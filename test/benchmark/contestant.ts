/** A recipe as all sides know it; `semaphore:3` has three permits, the multi-lock is one of five mutexes. */
export type Recipe =
  'mutex' | 'readLock' | 'writeLock' | `semaphore:${number}` | 'semaphoreMutex' | 'multiLock';

/** Those who compete in a run, by name: `ours`, and the peers that are there. */
export type Contestants = Readonly<Record<string, Contestant>>;

/** A library at work. It does one thing at a time, and keeps its sessions and lock objects. */
export interface Contestant {
  /**
   * Acquire + release, `count` times in all, by `lanes` contenders of one client that each have a lock object of their own.
   * Resolves with the time that it took, in ms.
   */
  cycles(recipe: Recipe, path: string, lanes: number, count: number): Promise<number>;
  /** Takes the mutex, and has others begin to queue for it, spread over so many sessions. */
  queue(path: string, waiters: number, sessions: number): Promise<void>;
  /** Lets that queue go: each waiter releases at once. Resolves with the times from then to each grant, in ms. */
  serve(): Promise<number[]>;
  close(): Promise<void>;
}
