import type {
  LinkListener,
  OpenOptions,
  Request,
  Transport,
  TransportLink,
} from '../../lib/zookeeper/connection/transport.js';

/** A way to a server that answers some requests with an error, without carrying them out. */
export class RefusingTransport implements Transport {
  /** The code to answer the request with; `undefined`: it is carried out. */
  refusal: (request: Request) => number | undefined = () => undefined;

  constructor(private readonly server: Transport) {}

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const link = this.server.open(options, listener);
    return {
      request: (request, reply) => {
        const rc = this.refusal(request);
        if (rc === undefined) return link.request(request, reply);
        link.request({ op: 'sync', path: '/' }, () => reply(rc)); // in its place among the answers
      },
      detach: (session) => link.detach(session),
      close: () => link.close(),
    };
  }

  close(): Promise<void> {
    return this.server.close();
  }
}
