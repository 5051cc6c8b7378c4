/**
 * Whether a copy of a command may arrive after its answer. A client sends a command again when the connection breaks before
 * the answer, and TCP goes on delivering what was written to the connection that was given up.
 *
 * Invariant: a server handles the commands of one connection in order. So an answer proves that nothing that was sent before
 * it is under way, unless a connection was interrupted in between.
 */
export class Copies {
  #mayFollow = false;
  /** Interruptions before the first command that was not answered. */
  #before?: number;

  constructor(private readonly connection: { readonly interruptions: number }) {}

  /** To be called before a command is sent. */
  sent(): void {
    this.#before ??= this.connection.interruptions;
  }

  answered(): void {
    this.#mayFollow = this.mayFollow;
    this.#before = undefined;
  }

  /** May a copy of a command that was sent up to now arrive behind what is sent next? */
  get mayFollow(): boolean {
    if (this.#mayFollow) return true;
    return this.#before !== undefined && this.#before !== this.connection.interruptions;
  }
}
