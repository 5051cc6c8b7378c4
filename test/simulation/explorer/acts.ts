import type { SimulatedProcess } from '../process.js';

/** Does something for its client. */
interface Actor {
  readonly name: string;
  readonly client: { readonly process: Pick<SimulatedProcess, 'isRunning'> };
}

/** Something that a user may do now. */
interface Act<U> {
  readonly user: U;
  readonly run: () => void;
}

/** What the users of all clients may do: each act waits until it is chosen. */
export class Acts<U extends Actor> {
  /** By their names, which say what each does. */
  readonly #possible = new Map<string, Act<U>>();

  /** The names of those of processes that run. */
  get names(): string[] {
    const acts = [...this.#possible].filter(([, { user }]) => user.client.process.isRunning);
    return acts.map(([name]) => name);
  }

  userOf(name: string): U {
    return this.#possible.get(name)!.user;
  }

  do(name: string): void {
    const { run } = this.#possible.get(name)!;
    this.#possible.delete(name);
    run();
  }

  /** From now on the user may do that; the returned function takes that back. */
  offer(user: U, what: string, run: () => void): () => void {
    const name = `${user.name} ${what}`;
    this.#possible.set(name, { user, run });
    return () => void this.#possible.delete(name);
  }
}
