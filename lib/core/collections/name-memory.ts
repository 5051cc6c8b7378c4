/** Maximum number of remembered names. */
const CAPACITY = 10_000;

/**
 * What is known of the last 10,000 names on the servers; the oldest is forgotten first.
 *
 * Names are removed from the front of a `Map`, which keeps their places until it is rebuilt: to find the first one from the start
 * would mean to step over thousands of these each time. So one iterator goes through it for good.
 *
 * Invariant: what the iterator has passed is not in the map.
 */
export class NameMemory<T> {
  readonly #known = new Map<string, T>();
  readonly #oldest = this.#known.keys();

  get(name: string): T | undefined {
    return this.#known.get(name);
  }

  /** Remembers a name; one that is known keeps its age. */
  set(name: string, value: T): void {
    this.#known.set(name, value);
    if (this.#known.size <= CAPACITY) return;
    const { value: oldest } = this.#oldest.next();
    this.#known.delete(oldest!);
  }

  delete(name: string): void {
    this.#known.delete(name);
  }
}
