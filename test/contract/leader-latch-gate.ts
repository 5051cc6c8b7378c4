import type {
  LinkListener,
  OpenOptions,
  Request,
  Transport,
  TransportLink,
} from '../../lib/zookeeper/connection/transport.js';
import { Deferred } from '../support/deferred.js';

/** A transport that keeps one request back until the test lets it go. */
export class LeaderLatchGate implements Transport {
  #keeps: (request: Request) => boolean = () => false;
  #arrival = new Deferred();
  #send: () => void = () => {};

  constructor(private readonly transport: Transport) {}

  /** Keeps the next request back that `matches`; the promise resolves when there is one. */
  keep(matches: (request: Request) => boolean): Promise<void> {
    this.#keeps = matches;
    this.#arrival = new Deferred();
    return this.#arrival.promise;
  }

  /** Sends what was kept back. */
  letGo(): void {
    this.#send();
  }

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const link = this.transport.open(options, listener);
    return {
      request: (request, reply) => {
        if (!this.#keeps(request)) return link.request(request, reply);
        this.#keeps = () => false;
        this.#send = () => link.request(request, reply);
        this.#arrival.resolve();
      },
      detach: (session) => link.detach(session),
      close: () => link.close(),
    };
  }

  close(): Promise<void> {
    return this.transport.close();
  }
}
