import type { ReadWriteLock } from '../../core/lock.js';
import { LockInternals } from './lock-internals.js';
import type { LockSettings } from './lock-settings.js';
import { InterProcessReadLock } from './inter-process-read-lock.js';
import { readLockDriver, writeLockDriver } from './lock-drivers.js';
import type { RecipeContext } from './recipe-context.js';
import { InterProcessWriteLock } from './inter-process-write-lock.js';

/**
 * A fair, reentrant read/write lock on ZooKeeper, compatible on the wire with Curator's class of that name: readers and
 * writers stand in one queue, and a reader behind a writer that waits, waits too.
 */
export class InterProcessReadWriteLock implements ReadWriteLock {
  readonly key: string;
  /** Directory of the lock. */
  readonly path: string;
  readonly #readLock: InterProcessReadLock;
  readonly #writeLock: InterProcessWriteLock;

  constructor(context: RecipeContext, settings: LockSettings) {
    this.key = settings.key;
    this.path = settings.path;
    const reader = new LockInternals(context, 'readLock', readLockDriver, settings);
    const writer = new LockInternals(context, 'writeLock', writeLockDriver, settings);
    this.#readLock = new InterProcessReadLock(reader, writer);
    this.#writeLock = new InterProcessWriteLock(writer, reader);
  }

  readLock(): InterProcessReadLock {
    return this.#readLock;
  }

  writeLock(): InterProcessWriteLock {
    return this.#writeLock;
  }
}
