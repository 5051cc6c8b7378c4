import type {
  LinkListener,
  OpenOptions,
  Request,
  Transport,
  TransportLink,
} from '../../lib/zookeeper/connection/transport.js';

/** Writes down the requests that go over a transport. */
export class RecordingTransport implements Transport {
  readonly #requests: Request[] = [];

  constructor(private readonly transport: Transport) {}

  /** What recipes have sent so far; without those about `/`, which keep the connection up. */
  get requests(): readonly Request[] {
    return this.#requests.filter(({ path }) => path !== '/');
  }

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const link = this.transport.open(options, listener);
    return {
      request: (request, reply) => {
        this.#requests.push(request);
        link.request(request, reply);
      },
      detach: (session) => link.detach(session),
      close: () => link.close(),
    };
  }

  close(): Promise<void> {
    return this.transport.close();
  }
}
