import type { Clock } from '../../lib/core/clock.js';
import type { Session } from '../../lib/zookeeper/connection/session.js';
import type {
  Answers,
  LinkListener,
  OpenOptions,
  Reply,
  Request,
  Transport,
  TransportLink,
} from '../../lib/zookeeper/connection/transport.js';
import { ReturnCode } from '../../lib/zookeeper/connection/zookeeper-error.js';

/** The way between a client and the server, as it is at the moment. */
export interface Network {
  /** How long the next message is under way, in milliseconds. */
  latency(): number;
  /**
   * What becomes of a request that has arrived: `served`; or the connection is cut before the server reads it (`lost`), or
   * after it was carried out and before its reply (`unanswered`).
   */
  fate(request: Request): 'served' | 'lost' | 'unanswered';
  /** The server takes no new connections. */
  readonly isRefusing: boolean;
  /** Nothing arrives in either direction, and neither side is notified. */
  readonly isPartitioned: boolean;
}

/**
 * A client's way to the server, with the faults of a network: give each client its own, over the same server.
 *
 * Everything happens by the clock, so on a virtual one a run can be repeated exactly. Then the transport below must defer
 * by that clock too: `new EmbeddedTransport(server, (fn) => clock.setTimer(fn, 0))`.
 */
export class FaultyTransport implements Transport, Network {
  latency: () => number = () => 0;
  fate: Network['fate'] = () => 'served';
  isRefusing = false;
  createsWithAcl: boolean;
  #isPartitioned = false;
  readonly #links = new Set<FaultyLink>();

  constructor(
    private readonly server: Transport,
    private readonly clock: Clock,
  ) {
    this.createsWithAcl = server.createsWithAcl ?? false;
  }

  get isPartitioned(): boolean {
    return this.#isPartitioned;
  }

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const link = new FaultyLink(this.clock, this, this.server, options, listener);
    this.#links.add(link);
    return link;
  }

  /** Breaks all connections; new ones may be made. Replies under way are lost. */
  cut(unread: 'lost' | 'processed' = 'lost'): void {
    for (const link of this.#links) link.cut(unread);
  }

  /** Decides the fate of the first request that `matches`; the others are served. */
  once(fate: 'lost' | 'unanswered', matches: (request: Request) => boolean): void {
    this.fate = (request) => {
      if (!matches(request)) return 'served';
      this.fate = () => 'served';
      return fate;
    };
  }

  /** From now on nothing arrives in either direction, while both sides go on: the server may expire the session. */
  partition(): void {
    this.#isPartitioned = true;
  }

  /** Ends `partition`: what was sent meanwhile arrives, in order. */
  heal(): void {
    this.#isPartitioned = false;
    for (const link of this.#links) link.heal();
  }

  /** Nothing to do: what is under way arrives, and a virtual clock keeps no process alive. */
  async close(): Promise<void> {}
}

/** A link over a network that takes its time and may fail. A request takes effect when it arrives, not when it is sent. */
export class FaultyLink implements TransportLink {
  readonly #up: DelayedChannel;
  #down: DelayedChannel;
  /** The link at the server, once the request for it has arrived. */
  #arrived?: TransportLink;
  #isCut = false;
  /** The server has stopped reading. */
  #isDeaf = false;
  /** The owner has not left, nor been notified of the end. */
  #isOpen = true;
  readonly #unanswered = new Set<{ readonly reply: Reply }>();
  readonly #toOwner: LinkListener;

  constructor(
    private readonly clock: Clock,
    private readonly network: Network,
    server: Transport,
    options: OpenOptions,
    listener: LinkListener,
  ) {
    this.#up = new DelayedChannel(clock, network);
    this.#down = new DelayedChannel(clock, network);
    this.#toOwner = this.#delayed(listener);
    this.#up.send(() => {
      if (network.isRefusing) this.#toOwner.onDisconnected('connection refused');
      else this.#arrived = server.open(options, this.#toOwner);
    });
  }

  request(request: Request, reply: Reply): void {
    if (!this.#isOpen) return void this.clock.setTimer(() => reply(ReturnCode.CONNECTIONLOSS), 0);
    const exchange = { reply };
    this.#unanswered.add(exchange);
    this.#up.send(() => this.#serve(request, exchange));
  }

  /** As with a driver that is left alone: the server keeps its end until it hears otherwise. */
  detach(session: Session | undefined): void {
    this.#leave();
    session?.onEnd(() => this.#up.send(() => this.#arrived?.close()));
  }

  close(): void {
    this.#leave();
    this.#up.send(() => this.#arrived?.close());
  }

  /** The connection breaks: replies under way are lost, and requests under way too unless they are to be `processed`. */
  cut(unread: 'lost' | 'processed'): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.#up.close(unread === 'processed');
    this.#down.close();
    this.#arrived?.detach(undefined);
    this.#down = new DelayedChannel(this.clock, this.network);
    this.#toOwner.onDisconnected('the connection was cut');
  }

  /** The partition is over. */
  heal(): void {
    this.#up.release();
    this.#down.release();
  }

  #serve(request: Request, exchange: { readonly reply: Reply }): void {
    if (this.#isDeaf) return;
    const fate = this.network.fate(request);
    if (fate === 'lost') {
      this.#isDeaf = true; // what follows on this connection is lost too, also where it was to be processed
      return this.cut('lost');
    }
    this.#arrived?.request(request, (rc, answer) =>
      this.#down.send(() => {
        if (this.#unanswered.delete(exchange)) exchange.reply(rc, answer);
      }),
    );
    if (fate === 'unanswered') this.cut('lost');
  }

  #leave(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.clock.setTimer(() => this.#failUnanswered(), 0);
  }

  #lost(tell: () => void): void {
    this.#isOpen = false;
    tell();
    this.#failUnanswered();
  }

  #failUnanswered(): void {
    for (const exchange of this.#unanswered) {
      this.#unanswered.delete(exchange);
      exchange.reply(ReturnCode.CONNECTIONLOSS);
    }
  }

  /** What the server says, said when it has arrived here. */
  #delayed(listener: LinkListener): LinkListener {
    const send = (message: () => void) => this.#down.send(() => void (this.#isOpen && message()));
    return {
      onConnected: (credentials) => send(() => listener.onConnected(credentials)),
      onDisconnected: (reason) => send(() => this.#lost(() => listener.onDisconnected(reason))),
      onExpired: (reason) => send(() => this.#lost(() => listener.onExpired(reason))),
      onWatch: (type, path) => send(() => listener.onWatch(type, path)),
    };
  }
}

/** One direction of a simulated connection: messages arrive in the order sent, each after its latency. */
export class DelayedChannel {
  #underway: (() => void)[] = [];
  #lastArrival = 0;
  /** How many are due but held back by a partition. */
  #held = 0;
  #isClosed = false;

  constructor(
    private readonly clock: Clock,
    private readonly network: Network,
  ) {}

  send(message: () => void): void {
    if (this.#isClosed) return;
    const now = this.clock.now();
    this.#lastArrival = Math.max(this.#lastArrival, now + this.network.latency());
    this.#underway.push(message);
    this.clock.setTimer(() => this.#arrive(), this.#lastArrival - now);
  }

  /** The partition is over: what was held arrives. */
  release(): void {
    const held = this.#held;
    this.#held = 0;
    for (let left = held; left > 0; left--) this.#arrive();
  }

  /** What is sent from now on is lost; what is under way too, unless it is to be delivered at once. */
  close(deliver = false): void {
    this.#isClosed = true;
    const underway = this.#underway;
    this.#underway = [];
    if (deliver) for (const message of underway) message();
  }

  #arrive(): void {
    if (this.network.isPartitioned) this.#held += 1;
    else this.#underway.shift()?.();
  }
}

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
