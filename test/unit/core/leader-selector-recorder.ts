import type { Leadership } from '../../../lib/core/election/leader-term.js';
import { Deferred } from '../../support/deferred.js';

/** Leads until it is asked to end, and writes down what it led by. */
export class LeaderSelectorRecorder {
  readonly leaderships: Leadership[] = [];
  #end = new Deferred();

  readonly takeLeadership = (leadership: Leadership): Promise<void> => {
    this.leaderships.push(leadership);
    this.#end = new Deferred();
    return this.#end.promise;
  };

  get last(): Leadership {
    return this.leaderships.at(-1)!;
  }

  end(): void {
    this.#end.resolve();
  }

  fail(error: unknown): void {
    this.#end.reject(error);
  }
}
