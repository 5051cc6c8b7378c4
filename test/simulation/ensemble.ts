import type { Clock } from '../../lib/core/clock.js';
import type { EmbeddedServer } from '../../lib/embedded/embedded-server.js';
import { EmbeddedTransport, Outbox } from '../../lib/embedded/embedded-transport.js';
import {
  type Caller,
  type Outcome,
  RequestProcessor,
} from '../../lib/embedded/request-processor.js';
import { ZnodeTree } from '../../lib/embedded/znode-tree.js';
import type { Servers } from '../../lib/zookeeper/connection/server-list.js';
import type { Session } from '../../lib/zookeeper/connection/session.js';
import type {
  LinkListener,
  OpenOptions,
  Reply,
  Request,
  Transport,
  TransportLink,
} from '../../lib/zookeeper/connection/transport.js';
import { ReturnCode } from '../../lib/zookeeper/connection/zookeeper-error.js';
import type { Dice } from './dice.js';
import { Timing } from './timing.js';

/** The servers of an ensemble, in the order in which one client tries them. */
export interface ClientServers extends Servers {
  /** The server that it tried last, if that is a follower. */
  follower?: Follower;
}

/** A leader and two followers; clients connect to all of them. */
export class Ensemble implements Transport {
  readonly followers: readonly Follower[];
  readonly #servers: readonly Transport[];
  /** The share of a requested session timeout that each server grants. */
  readonly #shares: number[];

  constructor(leader: EmbeddedServer, clock: Clock) {
    const leading = new EmbeddedTransport(leader, (flush) => void clock.setTimer(flush, 0));
    this.followers = [new Follower(leader, clock), new Follower(leader, clock)];
    this.#servers = [leading, ...this.followers];
    this.#shares = this.#servers.map(() => 1);
  }

  /** The servers for one client, which tries them in random order. */
  servers(dice: Dice): ClientServers {
    const last = this.#servers.length - 1;
    const servers: ClientServers = {
      size: this.#servers.length,
      next: async () => {
        const port = dice.integer(0, last);
        servers.follower = this.followers[port - 1];
        return { host: 'ensemble', port };
      },
    };
    return servers;
  }

  /** From now on, that server grants that share of a requested timeout. */
  configure(server: number, share: number): void {
    this.#shares[server % this.#shares.length] = share;
  }

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const { port } = options.address;
    const sessionTimeout = options.sessionTimeout * this.#shares[port]!;
    return this.#servers[port]!.open({ ...options, sessionTimeout }, listener);
  }

  async close(): Promise<void> {}

  get watchCount(): number {
    return this.followers.reduce((sum, { tree }) => sum + tree.watchCount, 0);
  }
}

/**
 * A server of an ensemble that is not the leader: it answers reads itself, from its own copy of the tree; it forwards writes
 * and `sync` to the leader, and answers when the leader's answer has come back, after every commit before it. Every half tick
 * it reports to the leader the sessions that it has heard from.
 *
 * The link between the two has no delay, or is cut: then reads are answered, and become stale; messages in both directions
 * wait, in order. So a lagging follower is one that was cut off for a moment.
 */
export class Follower implements Transport {
  readonly tree = new ZnodeTree(() => {});
  readonly outbox: Outbox;
  #state: 'following' | 'cut off' | 'deposed' | 'down' = 'following';
  #ups: (() => void)[] = [];
  #downs: (() => void)[] = [];
  readonly #links = new Set<FollowerLink>();
  readonly #touched = new Map<string, number>();

  constructor(
    readonly leader: EmbeddedServer,
    readonly clock: Clock,
  ) {
    this.outbox = new Outbox((flush) => void clock.setTimer(flush, 0));
    this.#replicate(leader.tree);
  }

  /** Whether it considers itself the leader. Then it answers `sync`, but cannot commit anything. */
  get isDeposed(): boolean {
    return this.#state === 'deposed';
  }

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const link = new FollowerLink(this, options, listener);
    if (this.#state === 'down') link.hangUp('connection refused');
    else this.#links.add(link);
    return link;
  }

  async close(): Promise<void> {}

  /** Sends to the leader: now, or when it can be reached. */
  up(message: () => void): void {
    if (this.#state === 'following') this.leader.receive(message);
    else this.#ups.push(message);
  }

  down(message: () => void): void {
    if (this.#state === 'cut off' || this.#state === 'deposed') this.#downs.push(message);
    else message();
  }

  touched(id: string, timeout: number): void {
    if (this.#touched.size === 0) {
      const half = Timing.tick / 2;
      this.clock.setTimer(() => this.#ping(), half - (this.clock.now() % half));
    }
    this.#touched.set(id, timeout);
  }

  left(link: FollowerLink): void {
    this.#links.delete(link);
  }

  /** The leader cannot be reached. */
  cutOff(): void {
    if (this.#state === 'following') this.#state = 'cut off';
  }

  /** It was the leader until now, and does not know that there is another one. */
  depose(): void {
    if (this.#state === 'following') this.#state = 'deposed';
  }

  /** It gives up: it serves no client any more, and what has not reached the leader is lost. */
  stop(): void {
    this.#ups = [];
    this.#touched.clear();
    for (const link of this.#links) link.hangUp('the server has stopped');
    this.#links.clear();
    this.#catchUp('down');
  }

  /** The leader can be reached again: what has happened meanwhile arrives, then what has waited is sent. */
  recover(): void {
    this.#catchUp('following');
    const ups = this.#ups;
    this.#ups = [];
    for (const message of ups) this.leader.receive(message);
  }

  #catchUp(state: 'following' | 'down'): void {
    this.#state = state;
    const downs = this.#downs;
    this.#downs = [];
    for (const message of downs) message();
  }

  #ping(): void {
    const touched = [...this.#touched];
    this.#touched.clear();
    this.up(() => {
      for (const [id, timeout] of touched) this.leader.touch(id, timeout);
    });
  }

  /** Every change of the leader's tree is applied to its own, as soon as it is received. */
  #replicate(tree: ZnodeTree): void {
    for (const change of ['insert', 'remove', 'setData'] as const) {
      const make = tree[change].bind(tree) as (...args: unknown[]) => void;
      const repeat = this.tree[change].bind(this.tree) as (...args: unknown[]) => void;
      tree[change] = (...args: unknown[]) => {
        make(...args);
        this.down(() => repeat(...args));
      };
    }
  }
}

const READS = new Set<Request['op']>(['exists', 'getData', 'getChildren', 'removeWatches']);

/** A link to a follower. Requests are answered in order: so reads behind one that waits for the leader wait too. */
export class FollowerLink implements TransportLink {
  #caller?: Caller;
  #isUp = true;
  /** Whether the first of the queue waits for the leader. */
  #isWaiting = false;
  readonly #queue: { readonly request: Request; readonly reply: Reply }[] = [];
  readonly #reads: RequestProcessor;
  readonly #listener: LinkListener;

  constructor(
    private readonly follower: Follower,
    options: OpenOptions,
    listener: LinkListener,
  ) {
    this.#reads = new RequestProcessor(follower.tree);
    this.#listener = this.#mailed(listener);
    follower.up(() => this.#connect(options));
  }

  request(request: Request, reply: Reply): void {
    const { outbox } = this.follower;
    if (!this.#isUp) return outbox.push(() => reply(ReturnCode.CONNECTIONLOSS));
    this.#queue.push({ request, reply });
    this.#touch();
    this.#next();
  }

  detach(session: Session | undefined): void {
    const { follower } = this;
    this.#leave();
    session?.onEnd((reason) => follower.up(() => follower.leader.endSession(session.id, reason)));
  }

  close(): void {
    const { follower } = this;
    const caller = this.#caller;
    this.#leave();
    if (caller)
      follower.up(() => follower.leader.endSession(caller.session.id, 'closed by its owner'));
  }

  hangUp(reason: string): void {
    this.#listener.onDisconnected(reason);
    this.follower.tree.forget(this.#listener);
  }

  #connect(options: OpenOptions): void {
    if (!this.#isUp) return;
    const { follower } = this;
    const down = (message: () => void) => follower.down(() => void (this.#isUp && message()));
    const caller = follower.leader.connect(options, {
      onConnected: (credentials) => down(() => this.#listener.onConnected(credentials)),
      onDisconnected: (reason) => down(() => this.hangUp(reason)),
      onExpired: (reason) => down(() => this.#listener.onExpired(reason)),
      onWatch: () => {},
    });
    down(() => {
      this.#caller = caller;
      this.#touch();
      this.#next();
    });
  }

  #touch(): void {
    if (this.#caller === undefined) return;
    const { id, timeout } = this.#caller.session;
    this.follower.touched(id, timeout);
  }

  #next(): void {
    const { follower } = this;
    const caller = this.#caller;
    const [first] = this.#queue;
    if (!this.#isUp || this.#isWaiting || caller === undefined || first === undefined) return;
    const { request } = first;
    const isOwn = READS.has(request.op) || (request.op === 'sync' && follower.isDeposed);
    if (isOwn) return this.#answer(this.#read(request, caller));
    this.#isWaiting = true;
    follower.up(() => {
      const outcome = follower.leader.forwarded(request, caller);
      follower.down(() => {
        this.#isWaiting = false;
        if (outcome) this.#answer(outcome); // otherwise its connection is closed, with that notification
      });
    });
  }

  #read(request: Request, caller: Caller): Outcome {
    return this.#reads.process(request, { ...caller, listener: this.#listener });
  }

  #answer({ rc, answer }: Outcome): void {
    if (!this.#isUp) return;
    const { reply } = this.#queue.shift()!;
    this.follower.outbox.push(() => reply(rc, answer));
    this.#next();
  }

  /** Our end is closed: the owner receives nothing more except that its requests are lost. */
  #leave(): void {
    if (!this.#isUp) return;
    this.#end();
    const { follower } = this;
    const caller = this.#caller;
    if (caller) follower.up(() => follower.leader.disconnect(caller));
  }

  #end(): void {
    this.#isUp = false;
    this.follower.left(this);
    this.follower.tree.forget(this.#listener);
    const unanswered = this.#queue.splice(0);
    this.follower.outbox.push(() => {
      for (const { reply } of unanswered) reply(ReturnCode.CONNECTIONLOSS);
    });
  }

  /** What the server sends is delivered in a later turn. */
  #mailed(listener: LinkListener): LinkListener {
    const { outbox } = this.follower;
    const last = (tell: () => void) => {
      if (!this.#isUp) return;
      outbox.push(tell);
      this.#end();
    };
    return {
      onConnected: (credentials) => outbox.push(() => listener.onConnected(credentials)),
      onDisconnected: (reason) => last(() => listener.onDisconnected(reason)),
      onExpired: (reason) => last(() => listener.onExpired(reason)),
      onWatch: (type, path) => outbox.push(() => listener.onWatch(type, path)),
    };
  }
}
