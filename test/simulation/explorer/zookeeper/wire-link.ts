import { type Caller, RequestProcessor } from '../../../../lib/embedded/request-processor.js';
import type { Session } from '../../../../lib/zookeeper/connection/session.js';
import type {
  LinkListener,
  OpenOptions,
  Reply,
  Request,
  TransportLink,
} from '../../../../lib/zookeeper/connection/transport.js';
import { ReturnCode } from '../../../../lib/zookeeper/connection/zookeeper-error.js';
import { parentPath } from '../../../../lib/zookeeper/connection/znode-path.js';
import { linkOf } from '../footprint.js';
import type { Wire } from './network.js';
import { copyOf } from './stale-tree.js';

/** Of a request when nothing waits any more, in ms: so time passes for a client that asks again and again. */
const LATENCY = 1;

interface Message {
  readonly what: string;
  readonly request?: Request;
  readonly reply?: Reply;
  handle(): void;
}

const WITHOUT_EFFECT = new Set<Request['op']>(['exists', 'getData', 'getChildren', 'sync']);
const READS = new Set<Request['op']>(['exists', 'getData', 'getChildren', 'removeWatches']);

/** Whether users notice what the server answers; a new link only begins with the others. */
export const isOfUser = (request: Request | undefined): boolean =>
  request !== undefined && request.op !== 'sync';

/** One link, and what the server has not read of it. After its end, the server may still handle that, or never. */
export class WireLink implements TransportLink {
  #up: Message[] = [];
  readonly #unanswered = new Set<Reply>();
  #caller?: Caller;
  /** The client has not left it, nor been notified of its end. */
  isOpen = true;
  /** What the server sends is lost. */
  isDeaf = false;
  /** The connection is broken: what the client sends is lost. */
  #isBroken = false;
  /** What a server that is cut off from the leader answers from. */
  #stale?: RequestProcessor;
  readonly #toClient: LinkListener;

  constructor(
    private readonly wire: Wire,
    private readonly options: OpenOptions,
    private readonly listener: LinkListener,
  ) {
    const down = (message: () => void) => this.#down(message);
    this.#toClient = {
      onConnected: (credentials) => {
        const isFelt = credentials.id !== options.credentials?.id; // otherwise it attaches to the session that it has
        this.#down(() => listener.onConnected(credentials), { isFelt });
      },
      onDisconnected: (reason) => down(() => this.#lost(() => listener.onDisconnected(reason))),
      onExpired: (reason) => down(() => this.#lost(() => listener.onExpired(reason))),
      onWatch: (type, path) => down(() => listener.onWatch(type, path)),
    };
  }

  begin(): void {
    this.#send({ what: 'connect', handle: () => this.#connect() });
  }

  request(request: Request, reply: Reply): void {
    if (!this.isOpen) return reply(ReturnCode.CONNECTIONLOSS); // the process reads it later
    this.#unanswered.add(reply);
    const what = `${request.op} ${request.path}`;
    this.#send({ what, request, reply, handle: () => this.#process(request, reply) });
  }

  detach(session: Session | undefined): void {
    this.#leave();
    session?.onEnd(() => this.#sendClose());
  }

  close(): void {
    this.#leave();
    this.#sendClose();
  }

  /** The first message that the server has not read. */
  get next(): Message | undefined {
    return this.#up[0];
  }

  get isStale(): boolean {
    return this.#stale !== undefined;
  }

  get isReady(): boolean {
    const { next } = this;
    if (next === undefined) return false;
    if (!this.isOpen && !this.#isAttached) return false;
    return !this.#stale || (next.request !== undefined && READS.has(next.request.op));
  }

  /** Whether the server still listens to it. */
  get #isAttached(): boolean {
    const caller = this.#caller;
    return caller !== undefined && caller.session.listener === caller.listener;
  }

  /** The server handles the next message. */
  serve(): void {
    const { footprint } = this.wire.network;
    const { request, handle } = this.#up.shift()!;
    footprint.writes(linkOf(this.wire.client));
    if (request) footprint.writes(this.wire.client);
    if (request && isOfUser(request)) {
      this.wire.onServed();
      for (const { path } of request.op === 'multi' ? request.operations : [request]) {
        footprint.reads(parentPath(path)); // without which nothing is created
        footprint.reads(path);
        footprint.reads(`${path}/*`);
      }
    }
    handle();
  }

  /** The server answers the next message with an error, and does not carry it out. */
  refuse(rc: number): void {
    const { reply } = this.#up.shift()!;
    this.wire.network.footprint.writes(this.wire.client);
    this.#answer(reply!, rc);
  }

  /** The connection breaks. The server may still handle what is under way. */
  cut(): void {
    this.#isBroken = true;
    this.wire.network.footprint.writes(this.wire.client);
    if (this.isOpen) this.#lost(() => this.listener.onDisconnected('the connection was cut'));
  }

  /** The connected server loses the leader: it answers reads from what it knows, and notifies of nothing. */
  loseLeader(): void {
    const { server, footprint } = this.wire.network;
    this.#stale = new RequestProcessor(copyOf(server.tree, footprint));
    footprint.writes(this.wire.client);
  }

  /** The process is gone. */
  die(): void {
    this.isOpen = false;
    this.#isBroken = true;
  }

  flow(): void {
    const { wire } = this;
    if (!wire.network.isFlowing || !wire.ready.includes(this)) return;
    this.serve();
    this.flow();
  }

  drop(): void {
    this.#up.length = 0;
    if (this.#caller) this.wire.network.server.disconnect(this.#caller);
  }

  #send(message: Message): void {
    if (this.#isBroken) return;
    this.#up.push(message);
    const { network } = this.wire;
    if (network.isFlowing && this.#up.length === 1)
      network.clock.setTimer(() => this.flow(), LATENCY);
  }

  #sendClose(): void {
    const handle = () => {
      const session = this.#caller?.session;
      if (session) this.wire.network.server.endSession(session.id, 'closed by its owner');
    };
    this.#send({ what: 'close the session', handle });
  }

  #connect(): void {
    const { options, wire } = this;
    const sessionTimeout = options.sessionTimeout * wire.share;
    this.#caller = wire.network.server.connect({ ...options, sessionTimeout }, this.#toClient);
  }

  #process(request: Request, reply: Reply): void {
    const caller = this.#caller;
    if (!caller) return;
    const { server } = this.wire.network;
    const outcome = this.#stale
      ? this.#stale.process(request, caller)
      : server.process(request, caller);
    if (outcome) this.#answer(reply, outcome.rc, outcome.answer);
  }

  #answer(reply: Reply, ...answered: Parameters<Reply>): void {
    const { isStale } = this;
    const answer = () => {
      if (this.#unanswered.delete(reply)) reply(...answered);
    };
    this.#down(answer, { isStale });
  }

  #down(message: () => void, { isStale = false, isFelt = true } = {}): void {
    this.wire.down(() => {
      if (this.isOpen && !this.isDeaf && this.isStale === isStale) message();
    }, isFelt);
  }

  #lost(tell: () => void): void {
    tell();
    this.#leave();
  }

  /**
   * The owner receives nothing more except that its requests are lost. Whether the server handles a read that it does not hear the answer
   * of makes no difference, except that the session lasts a little longer.
   */
  #leave(): void {
    this.isOpen = false;
    if (this.wire.network.isReduced)
      this.#up = this.#up.filter(({ request }) => !request || !WITHOUT_EFFECT.has(request.op));
    for (const reply of this.#unanswered) reply(ReturnCode.CONNECTIONLOSS);
    this.#unanswered.clear();
  }
}
