interface Entry<T> {
  readonly item: T;
  /** How many had been put in before. */
  readonly serial: number;
  index: number;
}

/**
 * Things that come and go often, in no order.
 *
 * Not a `Set`: each table of a `Set` that V8 has replaced points to its successor, so one that has grown old keeps all later
 * ones, and what was in them, until a full garbage collection.
 */
export class SwapRemoveSet<T> {
  readonly #entries: Entry<T>[] = [];
  #count = 0;

  get size(): number {
    return this.#entries.length;
  }

  /** Puts it in; the returned function takes it out, once. */
  add(item: T): () => void {
    const entry = { item, serial: this.#count++, index: this.#entries.length };
    this.#entries.push(entry);
    return () => this.#remove(entry);
  }

  /** Goes over what is in it now, whatever comes and goes meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return this.#entries.map(({ item }) => item)[Symbol.iterator]();
  }

  /** What is in it now, in the order in which it was put in. */
  inOrder(): T[] {
    return this.#entries.toSorted((a, b) => a.serial - b.serial).map(({ item }) => item);
  }

  /** Invariant: an entry that is in stands at its index. */
  #remove(entry: Entry<T>): void {
    if (this.#entries[entry.index] !== entry) return;
    const last = this.#entries.pop()!;
    if (last === entry) return;
    this.#entries[entry.index] = last;
    last.index = entry.index;
  }
}
