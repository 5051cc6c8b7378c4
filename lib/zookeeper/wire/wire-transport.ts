import { connect as connectTcp } from 'node:net';
import type { Clock } from '../../core/clock.js';
import type {
  LinkListener,
  OpenOptions,
  Transport,
  TransportLink,
} from '../connection/transport.js';
import type { ZooKeeperSaslOptions } from './digest-md5.js';
import { type OpenTlsSocket, tlsSockets, type ZooKeeperTlsOptions } from './tls-options.js';
import { type SeenZxid, WireLink } from './wire-link.js';

export interface WireTransportOptions {
  readonly clock: Clock;
  /** Encrypts every connection; there is no way back to one that is not. */
  readonly tls?: ZooKeeperTlsOptions | undefined;
  readonly sasl?: ZooKeeperSaslOptions | undefined;
}

/** Opens links by ZooKeeper's protocol over a socket of Node: nothing to install, and works in every thread. */
export class WireTransport implements Transport {
  readonly driver = 'wire';
  readonly createsWithAcl = true;
  readonly #links = new Set<WireLink>();
  readonly #openTls?: OpenTlsSocket;
  #allClosed: () => void = () => {};
  #seen: SeenZxid = { zxid: 0 };

  readonly #clock: Clock;
  readonly #sasl: ZooKeeperSaslOptions | undefined;

  constructor({ clock, tls, sasl }: WireTransportOptions) {
    this.#clock = clock;
    this.#sasl = sasl;
    if (tls) this.#openTls = tlsSockets(tls);
  }

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const { address, credentials } = options;
    // Not kept beyond the session: servers restored from a backup are behind it for ever.
    if (this.#seen.session !== credentials?.id) this.#seen = { session: credentials?.id, zxid: 0 };
    const socket = this.#openTls?.(address) ?? connectTcp(address.port, address.host);
    const readyEvent = this.#openTls ? 'secureConnect' : 'connect';
    const link = new WireLink(socket, readyEvent, options, listener, {
      clock: this.#clock,
      sasl: this.#sasl,
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
