import { setImmediate as nextTurn } from 'node:timers/promises';

/** Counts its visitors by reading and writing in different turns, as a database would: two at once lose an update. */
export class VisitedRoom {
  visits = 0;
  mostAtOnce = 0;
  #inside = 0;

  async visit(): Promise<void> {
    this.#inside += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#inside);
    const { visits } = this;
    await nextTurn();
    this.visits = visits + 1;
    this.#inside -= 1;
  }
}
