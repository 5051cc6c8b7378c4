import { seededRandom } from '../../../support/seeded-random.js';

/** What is random, and the same in every order of independent steps: each client draws by itself. */
export class RandomOfClients {
  /** The client that does something; empty if it is not known. */
  actor = '';
  readonly #sources = new Map<string, () => number>();

  next(): number {
    const { actor } = this;
    const source = this.#sources.get(actor) ?? seededRandom(Number(actor.at(-1) ?? 9) + 1);
    this.#sources.set(actor, source);
    return source();
  }
}
