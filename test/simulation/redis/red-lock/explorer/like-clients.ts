/**
 * Clients that differ only in their names until something happens to one of them: a run is the same under other names. Of all those, the one
 * is explored in which something happens to them first in the order of their numbers.
 */
export class LikeClients {
  readonly #begun = new Set<number>();

  /** @param areAlike otherwise they are not alike, and nothing is left out */
  constructor(private readonly areAlike: boolean) {}

  /** Something happens to that one. */
  begins(number: number): void {
    this.#begun.add(number);
  }

  mayBegin(number: number): boolean {
    if (!this.areAlike || this.#begun.has(number)) return true;
    for (let before = 0; before < number; before++) if (!this.#begun.has(before)) return false;
    return true;
  }
}
