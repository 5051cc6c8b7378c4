import type { Clock } from '../core/clock.js';

/**
 * Has containers removed some time after their last child has gone. A container that never had one stays.
 *
 * A timer runs only while there is something to look at, and never keeps the process alive.
 */
export class ContainerCollector {
  readonly #emptied = new Set<string>();
  #isArmed = false;

  /**
   * @param interval the longest time until a container is looked at, in milliseconds
   * @param enter runs what a timer sets off: now, or when the server can
   * @param removeIfEmpty removes a container if it still is one, and still empty
   */
  constructor(
    private readonly clock: Clock,
    private readonly interval: number,
    private readonly enter: (work: () => void) => void,
    private readonly removeIfEmpty: (path: string) => void,
  ) {}

  /** The last child of that container has gone. */
  emptied(path: string): void {
    this.#emptied.add(path);
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.clock.setTimer(this.#due, this.interval, true);
  }

  /** Removes the containers that are empty now; what that empties is for the next time. */
  collect(): void {
    const paths = [...this.#emptied];
    this.#emptied.clear();
    for (const path of paths) this.removeIfEmpty(path);
  }

  readonly #due = (): void => {
    this.#isArmed = false;
    this.enter(() => this.collect());
  };
}
