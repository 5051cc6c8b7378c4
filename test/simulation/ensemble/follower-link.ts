import {
  type Caller,
  type Outcome,
  RequestProcessor,
} from '../../../lib/embedded/request-processor.js';
import { ReturnCode } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import type { Session } from '../../../lib/zookeeper/connection/session.js';
import type {
  LinkListener,
  OpenOptions,
  Reply,
  Request,
  TransportLink,
} from '../../../lib/zookeeper/connection/transport.js';
import type { Follower } from './follower.js';

const READS = new Set<Request['op']>(['exists', 'getData', 'getChildren']);

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

  /** The server closes the connection. */
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
