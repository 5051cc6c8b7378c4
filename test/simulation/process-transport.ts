import type {
  LinkListener,
  OpenOptions,
  Reply,
  Request,
  Transport,
  TransportLink,
} from '../../lib/zookeeper/connection/transport.js';
import type { SimulatedProcess } from './simulated-process.js';

/** Observes the messages between a client and the server. */
export interface Eavesdropper {
  /** Called when the request is under way; the returned function when its answer has been read by the client. */
  sent(request: Request): (rc: number) => void;
}

/** Lets what comes from a transport into a process only while that runs, each message in a turn of its own. */
export class ProcessTransport implements Transport {
  constructor(
    private readonly below: Transport,
    private readonly process: SimulatedProcess,
    private readonly eavesdropper: Eavesdropper,
  ) {}

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const link = this.below.open(options, this.#admitted(listener));
    return {
      request: (request, reply) => this.#request(link, request, reply),
      detach: (session) => link.detach(session),
      close: () => link.close(),
    };
  }

  close(): Promise<void> {
    return this.below.close();
  }

  #request(link: TransportLink, request: Request, reply: Reply): void {
    let answered = (_rc: number) => {};
    link.request(request, (rc, answer) =>
      this.process.receive(() => {
        answered(rc);
        reply(rc, answer);
      }),
    );
    answered = this.eavesdropper.sent(request);
  }

  #admitted(listener: LinkListener): LinkListener {
    const admit = (message: () => void) => this.process.receive(message);
    return {
      onConnected: (credentials) => admit(() => listener.onConnected(credentials)),
      onDisconnected: (reason) => admit(() => listener.onDisconnected(reason)),
      onExpired: (reason) => admit(() => listener.onExpired(reason)),
      onWatch: (type, path) => admit(() => listener.onWatch(type, path)),
    };
  }
}
