import { inspect } from 'node:util';
import { LeaseScope } from './lease-scope.js';

/**
 * A set of listeners. One that throws or rejects is reported as a process warning and does not affect the others or the
 * notifier. They run outside any lease scope, so that they do not re-enter the lock of the code that notifies them.
 */
export class Listeners<T extends unknown[]> {
  readonly #listeners = new Set<(...args: T) => unknown>();

  /** @param what the source of the events, as worded in warnings */
  constructor(private readonly what: string) {}

  /** Adds a listener; the returned function removes it. */
  add(listener: (...args: T) => unknown): () => void {
    const entry = (...args: T) => listener(...args); // the same function may be added twice
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  tell(...args: T): void {
    for (const listener of [...this.#listeners])
      void LeaseScope.runOutside(() => this.#tell(listener, args));
  }

  /** Async, so that any failure is a rejection; the listener itself runs at once. */
  async #tell(listener: (...args: T) => unknown, args: T): Promise<void> {
    try {
      await listener(...args);
    } catch (error) {
      warnOfListener(this.what, error);
    }
  }
}

/**
 * Reports that a listener has failed.
 *
 * @param what the source of the events
 * @param error anything, also what has no text
 */
export function warnOfListener(what: string, error: unknown): void {
  const text = error instanceof Error ? String(error) : inspect(error);
  process.emitWarning(`A listener of ${what} failed: ${text}`);
}
