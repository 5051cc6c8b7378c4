/**
 * Messages of the server to its clients: delivered in order, and never in the turn they were sent in.
 *
 * All messages of one turn go out together in a later macrotask, so that neither many requests cost many timers, nor a
 * loop of requests keeps the event loop from its timers and sockets.
 */
export class Outbox {
  #messages: (() => void)[] = [];

  /** @param defer calls a function in a later turn */
  constructor(private readonly defer: (flush: () => void) => void) {}

  push(message: () => void): void {
    if (this.#messages.push(message) === 1) this.defer(this.#flush);
  }

  readonly #flush = (): void => {
    const messages = this.#messages;
    this.#messages = [];
    let taken = 0;
    try {
      for (const message of messages) {
        taken += 1;
        message();
      }
    } finally {
      if (taken < messages.length) this.#keep(messages.slice(taken));
    }
  };

  /** A message threw: those behind it must arrive all the same. */
  #keep(rest: (() => void)[]): void {
    if (this.#messages.length === 0) this.defer(this.#flush);
    this.#messages = rest.concat(this.#messages);
  }
}
