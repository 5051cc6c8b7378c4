import { type Clock, systemClock } from '../core/clock.js';
import type { LinkListener, OpenOptions, Request } from '../zookeeper/connection/transport.js';
import { type Caller, type Outcome, RequestProcessor } from './request-processor.js';
import { digestIdentity, type ServerSession, SessionTable } from './session-table.js';
import { ZnodeTree } from './znode-tree.js';

export interface EmbeddedServerOptions {
  /** Default: that of the machine. */
  readonly clock?: Clock;
  /**
   * The server's unit of time in milliseconds: sessions get 2 to 20 of it, and end on a full one.
   * Default: none; sessions never expire, for client and server live and die together.
   */
  readonly tickTime?: number;
  /** How often empty containers are looked for, in milliseconds. Default 60,000, as in ZooKeeper. */
  readonly containerInterval?: number;
}

/**
 * Has containers removed some time after their last child has gone. A container that never had one stays.
 *
 * A timer runs only while there is something to look at, and never keeps the process alive.
 */
export class ContainerCollector {
  readonly #emptied = new Set<string>();
  #isArmed = false;

  /**
   * @param interval the longest time until a container is looked at, in milliseconds
   * @param enter runs what a timer sets off: now, or when the server can
   * @param removeIfEmpty removes a container if it still is one, and still empty
   */
  constructor(
    private readonly clock: Clock,
    private readonly interval: number,
    private readonly enter: (work: () => void) => void,
    private readonly removeIfEmpty: (path: string) => void,
  ) {}

  /** The last child of that container has gone. */
  emptied(path: string): void {
    this.#emptied.add(path);
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.clock.setTimer(this.#due, this.interval, true);
  }

  /** Removes the containers that are empty now; what that empties is for the next time. */
  collect(): void {
    const paths = [...this.#emptied];
    this.#emptied.clear();
    for (const path of paths) this.removeIfEmpty(path);
  }

  readonly #due = (): void => {
    this.#isArmed = false;
    this.enter(() => this.collect());
  };
}

/**
 * A ZooKeeper server in this process: a tree of znodes and the sessions on it, with nothing written to disk.
 *
 * Whatever reaches it comes through {@link receive}, one message after the other, and is dealt with at once. Watches are
 * told of a change before any answer that shows it is returned.
 *
 * `freeze`, `elect`, `cut`, `expire`, `remove` and `collectContainers` are the accidents of a real server, for tests.
 */
export class EmbeddedServer {
  readonly tree = new ZnodeTree((path) => this.#collector.emptied(path));
  readonly #clock: Clock;
  readonly #processor = new RequestProcessor(this.tree);
  readonly #sessions: SessionTable;
  readonly #collector: ContainerCollector;
  /** What arrived while it was frozen. */
  #unread?: (() => void)[];
  #frozenAt = 0;

  constructor(options: EmbeddedServerOptions = {}) {
    const { clock = systemClock, tickTime, containerInterval = 60_000 } = options;
    const enter = (work: () => void) => this.receive(work);
    this.#clock = clock;
    this.#sessions = new SessionTable(clock, tickTime, enter, ({ id }) => this.expire(id));
    this.#collector = new ContainerCollector(clock, containerInterval, enter, (path) =>
      this.#removeIfEmpty(path),
    );
  }

  /** Lets a message in: now, or when the server thaws. */
  receive(message: () => void): void {
    if (this.#unread) this.#unread.push(message);
    else message();
  }

  /** Attaches a link to the session that it asks for, or to a new one. Refused: `listener` has heard why. */
  connect(options: OpenOptions, listener: LinkListener): Caller | undefined {
    const { credentials, sessionTimeout, auth } = options;
    const unknown = auth.find(({ scheme }) => scheme !== 'digest');
    if (unknown) {
      listener.onDisconnected(`the embedded tree knows no auth scheme "${unknown.scheme}"`);
      return undefined;
    }
    const session = credentials ? this.#sessions.find(credentials) : this.#openSession();
    if (!session) {
      listener.onExpired('the server has no such session');
      return undefined;
    }
    this.#hangUp(session, 'the session has moved to another link');
    session.listener = listener;
    this.#sessions.negotiate(session, sessionTimeout);
    const { id, password, timeout } = session;
    listener.onConnected({ id, password, timeout });
    return { session, listener, identities: auth.map(digestIdentity) };
  }

  /** Carries a request out. `undefined`: its link has been hung up, and nothing is done. */
  process(request: Request, caller: Caller): Outcome | undefined {
    if (caller.session.listener === caller.listener) this.#sessions.touch(caller.session);
    return this.forwarded(request, caller);
  }

  /** The same for what another server of the ensemble has passed on: the session was heard of there, not here. */
  forwarded(request: Request, caller: Caller): Outcome | undefined {
    if (caller.session.listener !== caller.listener) return undefined;
    return this.#processor.process(request, caller);
  }

  /** A touch at another server of the ensemble, with the timeout that it granted. */
  touch(id: string, timeout: number): void {
    const session = this.#sessions.get(id);
    if (session) this.#sessions.touch(session, timeout);
  }

  /** There is another leader: it gives every session the whole of its timeout. */
  elect(): void {
    this.receive(() => this.#sessions.touchAll());
  }

  /** The link is gone, and its watches with it; the session stays. */
  disconnect({ session, listener }: Pick<Caller, 'session' | 'listener'>): void {
    if (session.listener !== listener) return;
    session.listener = undefined;
    this.tree.forget(listener);
  }

  /** Ends a session: its ephemeral nodes go, in one transaction, and its link is hung up. Idempotent. */
  endSession(id: string, reason: string): void {
    const session = this.#sessions.get(id);
    if (!session) return;
    this.#sessions.delete(session);
    this.tree.nextZxid();
    this.tree.removeEphemerals(id);
    this.#hangUp(session, reason);
  }

  /** Stops the whole server, its clock too: it reads nothing, answers nothing, expires nothing. */
  freeze(): void {
    if (this.#unread) return;
    this.#unread = [];
    this.#frozenAt = this.#clock.now();
  }

  /** Ends `freeze`: what arrived meanwhile is read, and sessions have as long to live as they had. */
  thaw(): void {
    if (!this.#unread) return;
    const unread = this.#unread;
    this.#unread = undefined;
    this.#sessions.postpone(this.#clock.now() - this.#frozenAt);
    for (const message of unread) message();
  }

  /** Breaks the link of a session, which may come back on another one. */
  cut(id: string): void {
    const session = this.#sessions.get(id);
    if (session) this.#hangUp(session, 'the connection was cut');
  }

  /** Expires a session, as if it had not been heard of for its timeout. */
  expire(id: string): void {
    this.endSession(id, 'the session has expired');
  }

  /** Deletes a node that has no children, as a stranger would. `false`: there is none. */
  remove(path: string): boolean {
    if (!this.tree.get(path)) return false;
    this.tree.nextZxid();
    this.tree.remove(path);
    return true;
  }

  /** Removes, now, the containers that are empty but once had a child. */
  collectContainers(): void {
    this.#collector.collect();
  }

  #openSession(): ServerSession {
    this.tree.nextZxid();
    return this.#sessions.open();
  }

  #hangUp(session: ServerSession, reason: string): void {
    const { listener } = session;
    if (!listener) return;
    this.disconnect({ session, listener });
    listener.onDisconnected(reason);
  }

  #removeIfEmpty(path: string): void {
    const node = this.tree.get(path);
    const hasHadChildren = node?.nextSequence !== 0; // not so if it was made anew meanwhile
    if (node?.isContainer && hasHadChildren && node.children.size === 0) this.remove(path);
  }
}
