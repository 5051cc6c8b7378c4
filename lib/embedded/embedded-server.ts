import { type Clock, systemClock } from '../core/clock.js';
import type { LinkListener, OpenOptions, Request } from '../zookeeper/connection/transport.js';
import { type Caller, type Outcome, RequestProcessor } from './request-processor.js';
import { digestIdentity, type ServerSession, SessionTable } from './session-table.js';
import { ZnodeTree } from './znode-tree.js';

export interface EmbeddedServerOptions {
  /** Clock of the server. Default: the system clock. */
  readonly clock?: Clock;
  /**
   * The server's unit of time in milliseconds: session timeouts are 2 to 20 ticks, and sessions expire on a full tick.
   * Default: none; sessions never expire, because client and server have the same lifetime.
   */
  readonly tickTime?: number;
  /** Interval of the checks for empty containers in milliseconds. Default: 60,000, as in ZooKeeper. */
  readonly containerInterval?: number;
}

/** Most containers that are checked in one turn of the event loop. */
const SLICE = 1_000;

/**
 * Removes containers some time after their last child was removed. A container that never had a child stays.
 *
 * A timer runs only while there is a container to check, and never keeps the process alive.
 */
class ContainerCollector {
  readonly #emptied = new Set<string>();
  #isArmed = false;

  /**
   * @param interval longest time until a container is checked, in milliseconds
   * @param enter runs the work that a timer triggers: now, or when the server can
   * @param removeIfEmpty removes a node if it is still a container and still empty
   */
  constructor(
    private readonly clock: Clock,
    private readonly interval: number,
    private readonly enter: (work: () => void) => void,
    private readonly removeIfEmpty: (path: string) => void,
  ) {}

  /** Records that the last child of that container was removed. */
  emptied(path: string): void {
    this.#emptied.add(path);
    if (this.#isArmed) return;
    this.#isArmed = true;
    this.clock.setTimer(this.#due, this.interval, true);
  }

  /** Removes the containers that are empty now; containers emptied by that are left to the next run. */
  collect(): void {
    for (const path of this.#take()) this.removeIfEmpty(path);
  }

  readonly #due = (): void => {
    this.#isArmed = false;
    this.enter(() => this.#collectFrom(this.#take(), 0));
  };

  /** The same, over as many turns of the event loop as there are thousands. */
  #collectFrom(paths: readonly string[], start: number): void {
    const end = Math.min(start + SLICE, paths.length);
    for (let i = start; i < end; i++) this.removeIfEmpty(paths[i]!);
    if (end === paths.length) return;
    this.clock.setTimer(() => this.enter(() => this.#collectFrom(paths, end)), 0, true);
  }

  #take(): string[] {
    const paths = [...this.#emptied];
    this.#emptied.clear();
    return paths;
  }
}

/**
 * A ZooKeeper server in this process: a tree of znodes and the sessions on it, with nothing written to disk.
 *
 * All messages arrive through {@link receive}, one after the other, and are processed at once. Watches fire on a change
 * before any answer that shows it is returned.
 *
 * `freeze`, `elect`, `cut`, `expire`, `remove` and `collectContainers` simulate incidents of a real server, for tests.
 */
export class EmbeddedServer {
  readonly tree = new ZnodeTree((path) => this.#collector.emptied(path));
  readonly #clock: Clock;
  readonly #processor = new RequestProcessor(this.tree);
  readonly #sessions: SessionTable;
  readonly #collector: ContainerCollector;
  /** Messages that arrived while the server was frozen; set only while it is. */
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

  /** Processes a message: now, or when the server thaws. */
  receive(message: () => void): void {
    if (this.#unread) this.#unread.push(message);
    else message();
  }

  /** Attaches a link to the requested session, or to a new one. `undefined` if rejected: `listener` got the reason. */
  connect(options: OpenOptions, listener: LinkListener): Caller | undefined {
    const { credentials, sessionTimeout, auth } = options;
    const unknown = auth.find(({ scheme }) => scheme !== 'digest');
    if (unknown) {
      listener.onDisconnected(`the embedded server has no auth scheme "${unknown.scheme}"`);
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

  /** Carries out a request. `undefined` if its link was disconnected: nothing is done. */
  process(request: Request, caller: Caller): Outcome | undefined {
    if (caller.session.listener === caller.listener) this.#sessions.touch(caller.session);
    return this.forwarded(request, caller);
  }

  /** The same for a request forwarded by another server of the ensemble: the session was touched there, not here. */
  forwarded(request: Request, caller: Caller): Outcome | undefined {
    if (caller.session.listener !== caller.listener) return undefined;
    return this.#processor.process(request, caller);
  }

  /** Records a touch at another server of the ensemble, with the timeout that it granted. */
  touch(id: string, timeout: number): void {
    const session = this.#sessions.get(id);
    if (session) this.#sessions.touch(session, timeout);
  }

  /** Simulates the election of another leader, which restarts the full timeout of every session. */
  elect(): void {
    this.receive(() => this.#sessions.touchAll());
  }

  /** Detaches a lost link and removes its watches; the session stays. */
  disconnect({ session, listener }: Pick<Caller, 'session' | 'listener'>): void {
    if (session.listener !== listener) return;
    session.listener = undefined;
    this.tree.forget(listener);
  }

  /** Ends a session: removes its ephemeral nodes, in one transaction, and disconnects its link. Idempotent. */
  endSession(id: string, reason: string): void {
    const session = this.#sessions.get(id);
    if (!session) return;
    this.#sessions.delete(session);
    this.tree.nextZxid();
    this.tree.removeEphemerals(id);
    this.#hangUp(session, reason);
  }

  /** Stops the whole server, including its clock: it reads nothing, answers nothing, expires nothing. */
  freeze(): void {
    if (this.#unread) return;
    this.#unread = [];
    this.#frozenAt = this.#clock.now();
  }

  /** Ends `freeze`: the server reads what arrived meanwhile, and sessions keep the time they had left. */
  thaw(): void {
    if (!this.#unread) return;
    const unread = this.#unread;
    this.#unread = undefined;
    this.#sessions.postpone(this.#clock.now() - this.#frozenAt);
    for (const message of unread) message();
  }

  /** Breaks the link of a session, which may re-attach on another one. */
  cut(id: string): void {
    const session = this.#sessions.get(id);
    if (session) this.#hangUp(session, 'the connection was cut');
  }

  /** Expires a session, as if it had not been touched for its timeout. */
  expire(id: string): void {
    this.endSession(id, 'the session has expired');
  }

  /** Deletes a node without children, as a foreign client would. `false` if there is no such node. */
  remove(path: string): boolean {
    if (!this.tree.get(path)) return false;
    this.tree.nextZxid();
    this.tree.remove(path);
    return true;
  }

  /** Removes at once the containers that are empty but once had a child. */
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
    const hasHadChildren = node?.nextSequence !== 0; // false if it was re-created meanwhile
    if (node?.isContainer && hasHadChildren && node.children.size === 0) this.remove(path);
  }
}
