interface Entry<T> {
  readonly item: T;
  index: number;
}

/**
 * Unordered collection of items that are often added and removed.
 *
 * A `Set` is unsuitable: each table of a `Set` that V8 has replaced points to its successor, so one in the old generation
 * retains all later ones, and what was in them, until a full garbage collection.
 */
export class SwapRemoveSet<T> {
  readonly #entries: Entry<T>[] = [];

  get size(): number {
    return this.#entries.length;
  }

  /** Adds the item; the returned function removes it, once. */
  add(item: T): () => void {
    const entry = { item, index: this.#entries.length };
    this.#entries.push(entry);
    return () => this.#remove(entry);
  }

  /** Iterates over a snapshot: later additions and removals have no effect. */
  [Symbol.iterator](): Iterator<T> {
    return this.#entries.map(({ item }) => item)[Symbol.iterator]();
  }

  /** Invariant: a contained entry is at its `index`. */
  #remove(entry: Entry<T>): void {
    if (this.#entries[entry.index] !== entry) return;
    const last = this.#entries.pop()!;
    if (last === entry) return;
    this.#entries[entry.index] = last;
    last.index = entry.index;
  }
}
