import { AsyncResource } from 'node:async_hooks';
import { OrderedSet } from '../core/collections/ordered-set.js';
import { microtask, nextTick, nextTurn } from '../core/internal/timers.js';
import type { Servers } from '../zookeeper/connection/server-list.js';
import type { Session } from '../zookeeper/connection/session.js';
import type {
  LinkListener,
  OpenOptions,
  Reply,
  Request,
  Transport,
  TransportLink,
} from '../zookeeper/connection/transport.js';
import { ReturnCode } from '../zookeeper/connection/zookeeper-error.js';
import type { EmbeddedServer } from './embedded-server.js';
import type { Caller } from './request-processor.js';

/** Most messages that are delivered in one turn of the event loop. */
const SLICE = 256;

/**
 * Messages of the server to its clients, delivered in order and never in the turn in which they were sent.
 *
 * The messages of one turn are delivered together in a later macrotask, up to 256 in each: many requests do not cost many
 * timers, and neither a loop of requests nor a burst keeps the event loop from its timers and sockets. As on a socket,
 * everything that follows from one message has run before the next is delivered.
 */
export class Outbox {
  #messages: (() => void)[] = [];

  /** @param defer calls a function in a later macrotask */
  constructor(private readonly defer: (flush: () => void) => void) {}

  push(message: () => void): void {
    if (this.#messages.push(message) === 1) this.defer(this.#flush);
  }

  /** Runs in the async context of the constructor: otherwise all messages would run in that of the first sender. */
  readonly #flush = AsyncResource.bind((): void => {
    const messages = this.#messages;
    this.#messages = messages.length > SLICE ? messages.slice(SLICE) : [];
    if (this.#messages.length > 0) this.defer(this.#flush); // what is pushed meanwhile comes behind the rest
    deliver(messages, 0, Math.min(messages.length, SLICE));
  });
}

function deliver(messages: readonly (() => void)[], index: number, end: number): void {
  // All microtasks run before the next tick. Scheduled before the message is delivered, which may throw.
  if (index + 1 < end) microtask(() => nextTick(deliver, messages, index + 1, end));
  messages[index]!();
}

/** A request that was sent; it is answered once. */
interface Exchange {
  readonly reply: Reply;
  isAnswered: boolean;
}

function answer(exchange: Exchange, ...[rc, result]: Parameters<Reply>): void {
  if (exchange.isAnswered) return;
  exchange.isAnswered = true;
  exchange.reply(rc, result);
}

/** A link to the server in this process: requests take effect in the call, all events and replies come in a later turn. */
export class EmbeddedLink implements TransportLink {
  #isUp = true;
  #caller?: Caller;
  /** In the order of sending. */
  readonly #unanswered = new OrderedSet<Exchange>();

  constructor(
    private readonly server: EmbeddedServer,
    private readonly outbox: Pick<Outbox, 'push'>,
    options: OpenOptions,
    listener: LinkListener,
  ) {
    const mailed = this.#mailed(listener);
    server.receive(() => {
      if (this.#isUp) this.#caller = server.connect(options, mailed);
    });
  }

  request(request: Request, reply: Reply): void {
    if (!this.#isUp) return this.outbox.push(() => reply(ReturnCode.CONNECTIONLOSS));
    const exchange: Exchange = { reply, isAnswered: false };
    const forget = this.#unanswered.add(exchange);
    this.server.receive(() => {
      const outcome = this.#caller && this.server.process(request, this.#caller);
      if (!outcome) return; // disconnected: its reply comes with that event
      this.outbox.push(() => {
        forget();
        answer(exchange, outcome.rc, outcome.answer);
      });
    });
  }

  detach(session: Session | undefined): void {
    this.#leave((caller) => this.server.disconnect(caller));
    session?.onEnd((reason) =>
      this.server.receive(() => this.server.endSession(session.id, reason)),
    );
  }

  close(): void {
    this.#leave(({ session }) => this.server.endSession(session.id, 'closed by its owner'));
  }

  /** Closes the client's end: the owner gets no more events, and its unanswered requests fail. */
  #leave(farewell: (caller: Caller) => void): void {
    if (!this.#isUp) return;
    this.#isUp = false;
    this.server.receive(() => this.#caller && farewell(this.#caller));
    this.outbox.push(() => this.#failUnanswered());
  }

  #lost(tell: () => void): void {
    this.#isUp = false;
    tell();
    this.#failUnanswered();
  }

  #failUnanswered(): void {
    for (const exchange of this.#unanswered) answer(exchange, ReturnCode.CONNECTIONLOSS);
  }

  /** Wraps `listener` so that it is called in a later turn. */
  #mailed(listener: LinkListener): LinkListener {
    const mail = (message: () => void) => this.outbox.push(() => void (this.#isUp && message()));
    return {
      onConnected: (credentials) => mail(() => listener.onConnected(credentials)),
      onDisconnected: (reason) => mail(() => this.#lost(() => listener.onDisconnected(reason))),
      onExpired: (reason) => mail(() => this.#lost(() => listener.onExpired(reason))),
      onWatch: (type, path) => mail(() => listener.onWatch(type, path)),
    };
  }
}

/** The one address of an embedded server: there is nothing to choose or to resolve. */
export const embeddedServers: Servers = {
  size: 1,
  next: async () => ({ host: 'embedded', port: 0 }),
};

/** Opens links to a server in this process. They keep the process alive only while an answer is on its way. */
export class EmbeddedTransport implements Transport {
  readonly createsWithAcl = true;
  readonly #outbox: Outbox;

  /** @param defer calls a function in a later turn of the event loop */
  constructor(
    private readonly server: EmbeddedServer,
    defer: (flush: () => void) => void = nextTurn,
  ) {
    this.#outbox = new Outbox(defer);
  }

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    return new EmbeddedLink(this.server, this.#outbox, options, listener);
  }

  /** There is nothing to close: a detached link has notified the server, and holds no resources. */
  async close(): Promise<void> {}
}
