import type { Clock } from '../../lib/core/clock.js';
import { ReturnCode } from '../../lib/zookeeper/connection/zookeeper-error.js';
import type { Session } from '../../lib/zookeeper/connection/session.js';
import type {
  LinkListener,
  OpenOptions,
  Reply,
  Request,
  Transport,
  TransportLink,
} from '../../lib/zookeeper/connection/transport.js';
import { DelayedChannel } from './delayed-channel.js';
import type { Network } from './network.js';

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
