import { AsyncResource } from 'node:async_hooks';

/**
 * Messages of the server to its clients: delivered in order, and never in the turn they were sent in.
 *
 * All messages of one turn go out together in one later macrotask, so that neither many requests cost many timers, nor a
 * loop of requests keeps the event loop from its timers and sockets. As on a socket, whatever follows upon one message
 * has run before the next is delivered.
 */
export class Outbox {
  #messages: (() => void)[] = [];

  /** @param defer calls a function in a later macrotask */
  constructor(private readonly defer: (flush: () => void) => void) {}

  push(message: () => void): void {
    if (this.#messages.push(message) === 1) this.defer(this.#flush);
  }

  /** In the async context of the constructor: else everybody's messages would come in that of whoever sent first. */
  readonly #flush = AsyncResource.bind((): void => {
    const messages = this.#messages;
    this.#messages = [];
    deliver(messages, 0);
  });
}

function deliver(messages: readonly (() => void)[], index: number): void {
  // All microtasks run before the next tick. Arranged before the message, which may throw.
  if (index + 1 < messages.length)
    queueMicrotask(() => process.nextTick(deliver, messages, index + 1));
  messages[index]!();
}
