/** How long answers take. */
export class RoundTrips {
  #least = Infinity;

  /** The least that was ever seen, in ms: a single answer may have had to wait for something else. 0 before the first. */
  get least(): number {
    return this.#least === Infinity ? 0 : this.#least;
  }

  add(ms: number): void {
    if (ms < this.#least) this.#least = ms;
  }
}
