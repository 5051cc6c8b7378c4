import { connect as connectTcp } from 'node:net';
import type { Clock } from '../../core/clock.js';
import type {
  LinkListener,
  OpenOptions,
  Transport,
  TransportLink,
} from '../connection/transport.js';
import { type SeenZxid, WireLink } from './wire-link.js';

interface WireTransportOptions {
  readonly clock: Clock;
}

/** Opens links by ZooKeeper's protocol over a socket of Node: nothing to install, and works in every thread. */
export class WireTransport implements Transport {
  readonly driver = 'wire';
  readonly #links = new Set<WireLink>();
  #allClosed: () => void = () => {};
  #seen: SeenZxid = { zxid: 0 };

  constructor(private readonly options: WireTransportOptions) {}

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    // Not kept beyond the session: servers restored from a backup are behind it for ever.
    if (!options.credentials) this.#seen = { zxid: 0 };
    const { host, port } = options.address;
    const link = new WireLink(connectTcp({ host, port }), 'connect', options, listener, {
      clock: this.options.clock,
      seen: this.#seen,
      onClosed: (closed) => this.#closed(closed),
    });
    this.#links.add(link);
    return link;
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#allClosed = resolve;
      for (const link of this.#links) link.close();
      if (this.#links.size === 0) resolve();
    });
  }

  #closed(link: WireLink): void {
    this.#links.delete(link);
    if (this.#links.size === 0) this.#allClosed();
  }
}
