/** How many are inside of something now, and how many there were at most. */
export class Visits {
  most = 0;
  done = 0;
  #inside = 0;

  /** Call it when `weight` of it is taken; `leave` when it is released. */
  enter(weight = 1): void {
    this.#inside += weight;
    this.most = Math.max(this.most, this.#inside);
  }

  leave(weight = 1): void {
    this.#inside -= weight;
    this.done += 1;
  }
}
