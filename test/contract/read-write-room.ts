import { setImmediate as nextTurn } from 'node:timers/promises';

/** Readers notice when a writer is at work, and writers when any client is; in different turns, as in a database. */
export class ReadWriteRoom {
  updates = 0;
  writes = 0;
  disturbances = 0;
  mostReaders = 0;
  #readers = 0;
  #writers = 0;

  async read(): Promise<void> {
    this.#readers += 1;
    this.mostReaders = Math.max(this.mostReaders, this.#readers);
    this.#look(this.#writers);
    await nextTurn();
    this.#look(this.#writers);
    this.#readers -= 1;
  }

  async write(): Promise<void> {
    this.writes += 1;
    this.#writers += 1;
    const { updates } = this;
    this.#look(this.#readers + this.#writers - 1);
    await nextTurn();
    this.#look(this.#readers + this.#writers - 1);
    this.updates = updates + 1;
    this.#writers -= 1;
  }

  #look(others: number): void {
    if (others > 0) this.disturbances += 1;
  }
}
