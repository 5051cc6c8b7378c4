import { Deferred } from '../../support/deferred.js';

/** Where a method under test stays until the test lets it leave. `log` says what happened, in order. */
export class Room {
  readonly log: string[] = [];
  readonly entered = new Deferred();
  readonly #door = new Deferred();

  async stay<T>(result: T): Promise<T> {
    this.entered.resolve();
    await this.#door.promise;
    this.log.push('left');
    return result;
  }

  open(): void {
    this.#door.resolve();
  }
}
