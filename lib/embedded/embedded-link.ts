import { ReturnCode } from '../zookeeper/connection/zookeeper-error.js';
import type { Session } from '../zookeeper/connection/session.js';
import type {
  LinkListener,
  OpenOptions,
  Reply,
  Request,
  TransportLink,
} from '../zookeeper/connection/transport.js';
import type { Caller } from './caller.js';
import type { EmbeddedServer } from './embedded-server.js';
import type { Outbox } from './outbox.js';

/** A link to the server in this process: requests take effect in the call, everything it says comes in a later turn. */
export class EmbeddedLink implements TransportLink {
  #isUp = true;
  #caller?: Caller;
  /** In the order of sending. An object each, for the same function may be given twice. */
  readonly #unanswered = new Set<{ readonly reply: Reply }>();

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
    const exchange = { reply };
    this.#unanswered.add(exchange);
    this.server.receive(() => {
      const outcome = this.#caller && this.server.process(request, this.#caller);
      if (!outcome) return; // hung up: its reply comes with that news
      this.outbox.push(() => {
        if (this.#unanswered.delete(exchange)) reply(outcome.rc, outcome.answer);
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

  /** Our end is closed: the owner hears nothing more but that its requests are lost. */
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
    for (const exchange of this.#unanswered) {
      this.#unanswered.delete(exchange);
      exchange.reply(ReturnCode.CONNECTIONLOSS);
    }
  }

  /** What the server says, said in a later turn. */
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
