import type {
  LinkListener,
  OpenOptions,
  Transport,
  TransportLink,
} from '../zookeeper/connection/transport.js';
import { EmbeddedLink } from './embedded-link.js';
import type { EmbeddedServer } from './embedded-server.js';
import { Outbox } from './outbox.js';

/** Links to a server in this process. They keep the process alive only while an answer is on its way. */
export class EmbeddedTransport implements Transport {
  readonly #outbox: Outbox;

  /** @param defer calls a function in a later turn of the event loop */
  constructor(
    private readonly server: EmbeddedServer,
    defer: (flush: () => void) => void = setImmediate,
  ) {
    this.#outbox = new Outbox(defer);
  }

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    return new EmbeddedLink(this.server, this.#outbox, options, listener);
  }

  /** Nothing to close: a detached link has told the server, and holds nothing. */
  async close(): Promise<void> {}
}
