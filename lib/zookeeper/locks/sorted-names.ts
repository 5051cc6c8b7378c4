/** Number of deleted names from which their places are removed. */
const MANY_DELETED = 1_024;

/** Whether the first of two names is ahead of the second, given their keys (see `LockInternalsDriver.sortKey`). */
function isAhead(key: string, name: string, otherKey: string, other: string): boolean {
  return key < otherKey || (key === otherKey && name < other);
}

/**
 * Sorts names in queue order: by their keys, as UTF-16 code units, as in Curator, so that every client sees the same queue.
 * Equal keys are ordered by name.
 */
export function sortedNames(names: readonly string[], sortKey: (name: string) => string): string[] {
  const keyed = names.map((name) => ({ name, key: sortKey(name) }));
  keyed.sort((a, b) => (isAhead(a.key, a.name, b.key, b.name) ? -1 : 1));
  return keyed.map(({ name }) => name);
}

/** Names in queue order, of which those at the front are mostly the first to go. */
export class SortedNames {
  readonly #names: string[];
  /** Index of the first name that was not deleted. */
  #head = 0;

  constructor(
    names: readonly string[],
    private readonly sortKey: (name: string) => string,
  ) {
    this.#names = sortedNames(names, sortKey);
  }

  get size(): number {
    return this.#names.length - this.#head;
  }

  get first(): string | undefined {
    return this.#names[this.#head];
  }

  has(name: string): boolean {
    return this.#names[this.#indexOf(name)] === name;
  }

  /** Number of names ahead of `name`, which need not be one of them. */
  ahead(name: string): number {
    return this.#indexOf(name) - this.#head;
  }

  /** The names ahead of `name`, in order. */
  namesAhead(name: string): string[] {
    return this.#names.slice(this.#head, this.#indexOf(name));
  }

  /** The last of the names ahead of `name`. */
  nearest(name: string): string | undefined {
    const index = this.#indexOf(name);
    return index > this.#head ? this.#names[index - 1] : undefined;
  }

  add(name: string): void {
    if (!this.has(name)) this.#names.splice(this.#indexOf(name), 0, name);
  }

  delete(name: string): void {
    const index = this.#indexOf(name);
    if (this.#names[index] !== name) return;
    if (index === this.#head) this.#moveHead(index + 1);
    else this.#names.splice(index, 1);
  }

  deleteAhead(name: string): void {
    this.#moveHead(this.#indexOf(name));
  }

  #moveHead(head: number): void {
    this.#head = head;
    if (head < MANY_DELETED || head < this.#names.length / 2) return;
    this.#names.splice(0, head);
    this.#head = 0;
  }

  /** The index at which that name is, or would be. */
  #indexOf(name: string): number {
    const key = this.sortKey(name);
    let [low, high] = [this.#head, this.#names.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#names[middle]!;
      if (isAhead(this.sortKey(other), other, key, name)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
