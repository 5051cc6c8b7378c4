import { LeaseScope } from './lease-scope.js';

/**
 * Functions to be told of something. One that throws or rejects is reported as a process warning and harms nobody. They are
 * in the scope of no lease, so that they do not enter the lock of whoever happens to tell them.
 */
export class Listeners<T extends unknown[]> {
  readonly #listeners = new Set<(...args: T) => unknown>();

  /** @param what they listen to, as it stands in warnings */
  constructor(private readonly what: string) {}

  /** The returned function takes it out again. */
  add(listener: (...args: T) => unknown): () => void {
    const entry = (...args: T) => listener(...args); // the same function may be added twice
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  tell(...args: T): void {
    for (const listener of [...this.#listeners])
      void LeaseScope.runOutside(() => this.#tell(listener, args));
  }

  /** Async, so that whatever is wrong is a rejection; the listener itself runs at once. */
  async #tell(listener: (...args: T) => unknown, args: T): Promise<void> {
    try {
      await listener(...args);
    } catch (error) {
      process.emitWarning(`A listener of ${this.what} failed: ${String(error)}`);
    }
  }
}
