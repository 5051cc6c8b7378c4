import type {
  Answers,
  LinkListener,
  OpenOptions,
  Reply,
  Request,
  Transport,
  TransportLink,
} from '../../lib/zookeeper/connection/transport.js';

/**
 * A way to servers on which every node has been changed so many times more: no test can wait for 2^31 changes. As on theirs,
 * versions are numbers of 32 bits, and -1 in a request is any.
 */
export class AgedTransport implements Transport {
  /** So many changes more, on every node. */
  age = 0;

  constructor(private readonly transport: Transport) {}

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const link = this.transport.open(options, listener);
    return {
      request: (request, reply) =>
        link.request(this.#younger(request), this.#older(request.op, reply)),
      detach: (session) => link.detach(session),
      close: () => link.close(),
    };
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  #younger(request: Request): Request {
    if (!('version' in request) || request.version === -1) return request;
    return { ...request, version: (request.version - this.age) | 0 };
  }

  #older(op: Request['op'], reply: Reply): Reply {
    const aged = (stat: Answers['exists']) => ({ ...stat, version: (stat.version + this.age) | 0 });
    return (rc, answer) => {
      if (answer === undefined) return reply(rc);
      if (op === 'exists' || op === 'setData') return reply(rc, aged(answer as Answers['exists']));
      if (op !== 'getData') return reply(rc, answer);
      const { data, stat } = answer as Answers['getData'];
      reply(rc, { data, stat: aged(stat) });
    };
  }
}
