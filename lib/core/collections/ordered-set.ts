interface Entry<T> {
  readonly item: T;
  before?: Entry<T> | undefined;
  after?: Entry<T> | undefined;
}

/**
 * Collection in the order of addition, of items that are often added and removed: the oldest ones are found without looking at
 * the others.
 *
 * A `Set` is unsuitable: each table of a `Set` that V8 has replaced points to its successor, so one in the old generation
 * retains all later ones, and what was in them, until a full garbage collection. For the same reason an entry that is removed
 * keeps no neighbours.
 */
export class OrderedSet<T> {
  #first?: Entry<T> | undefined;
  #last?: Entry<T> | undefined;
  #size = 0;
  /** Where those that walk go next. */
  readonly #walkers = new Set<{ next?: Entry<T> | undefined }>();

  get size(): number {
    return this.#size;
  }

  /** The item that was added first. */
  get first(): T | undefined {
    return this.#first?.item;
  }

  /** Adds the item; the returned function removes it, once. */
  add(item: T): () => void {
    const entry: Entry<T> = { item, before: this.#last, after: undefined };
    if (this.#last === undefined) this.#first = entry;
    else this.#last.after = entry;
    this.#last = entry;
    this.#size += 1;
    return () => this.#remove(entry);
  }

  /** Removes the item that was added first, if there is one. */
  shift(): void {
    if (this.#first) this.#remove(this.#first);
  }

  /** The items that were added first, at most `most` of them. */
  oldest(most: number): T[] {
    const items: T[] = [];
    for (let entry = this.#first; entry && items.length < most; entry = entry.after)
      items.push(entry.item);
    return items;
  }

  /**
   * Iterates over the items, the oldest first, without those that are removed before their turn; those that are added meanwhile
   * may be left out. There is no snapshot, so it may be spread over turns of the event loop, however many there are.
   */
  *walk(): Generator<T, void> {
    const walker = { next: this.#first };
    this.#walkers.add(walker);
    try {
      for (let entry = walker.next; entry; entry = walker.next) {
        walker.next = entry.after;
        yield entry.item;
      }
    } finally {
      this.#walkers.delete(walker);
    }
  }

  /** Iterates over a snapshot, the oldest first: later additions and removals have no effect. */
  [Symbol.iterator](): Iterator<T> {
    return this.oldest(Infinity)[Symbol.iterator]();
  }

  /** Invariant: a contained entry is the first one or has one before it; a removed entry is neither. */
  #remove(entry: Entry<T>): void {
    const { before, after } = entry;
    if (before === undefined && this.#first !== entry) return;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    for (const walker of this.#walkers) if (walker.next === entry) walker.next = after;
    entry.before = entry.after = undefined;
    this.#size -= 1;
  }
}
