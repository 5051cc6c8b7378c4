/* eslint-disable max-lines -- one state machine: requests go out by its link, watches end with it, its session with its time */
import type { Clock, Timer } from '../../core/clock.js';
import { LeaseScope } from '../../core/internal/lease-scope.js';
import type { Liveness } from '../../core/internal/client-lifecycle.js';
import { IdleWatches, type WatchKind } from './idle-watches.js';
import { PipelinedLink } from './pipelined-link.js';
import type { ServerAddress, Servers } from './server-list.js';
import { Session } from './session.js';
import type { Answers, Request, SessionCredentials, Transport } from './transport.js';
import { WatchRegistry } from './watch-registry.js';
import type {
  AclEntry,
  AuthInfo,
  ConnectionState,
  Created,
  CreateMode,
  Operation,
  OperationAnswers,
  Stat,
  Watcher,
  ZooKeeperConnection,
} from './zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from './zookeeper-error.js';

interface SessionConnectionOptions {
  readonly transport: Transport;
  readonly servers: Servers;
  /** Requested timeout in milliseconds; the servers negotiate it. */
  readonly sessionTimeout: number;
  /** Tick time of the servers in milliseconds. Default: 2,000. */
  readonly tickTime?: number;
  readonly clock: Clock;
  readonly auth?: readonly AuthInfo[];
  /** Returns a number in [0, 1); spreads the reconnects of many clients. Default: `Math.random`. */
  readonly random?: () => number;
  /** See `Session`. */
  readonly catchUp?: (() => void) | undefined;
  /** Called when an attempt to connect failed; another follows. */
  readonly onAttemptFailed?: (reason: string) => void;
}

/** Time limit of either part of an attempt to connect (resolving the name, connecting), in ms. */
const LONGEST_ATTEMPT = 5_000;
/** Minimum of that limit while there is no session to lose, in ms: the servers may grant a longer timeout than requested. */
const FIRST_ATTEMPT = 1_000;
/** Uptime from which a link counts as steady, in ms: only after a shorter one does the back-off continue. */
const STEADY = 1_000;

/** Bounds of the delay between two attempts to connect, in ms. */
const SHORTEST_DELAY = 20;
const LONGEST_DELAY = 1_000;

/**
 * Delay before attempt number `failures`, in ms: none in the first round over the servers (a negative number), then
 * from 20 ms up to 1 s. Half of it is random, so that the clients of a failed server reconnect one by one.
 */
export function reconnectDelay(failures: number, random: () => number): number {
  if (failures < 0) return 0;
  return (
    Math.min(LONGEST_DELAY, SHORTEST_DELAY * 2 ** Math.min(failures, 10)) * (0.5 + random() / 2)
  );
}

type RequestOf<O extends Request['op']> = Request & { readonly op: O };

/**
 * Implements the port over any transport. Keeps one session alive over many links: attaches, detaches, re-attaches, and
 * opens a new session after a loss.
 *
 * Invariants:
 * - `#link` is the only link that counts: events of an older one are ignored.
 * - While `session` is set it has not ended; when it ends, the state is `LOST` before another session becomes visible.
 * - `CONNECTED` and `RECONNECTED` are reached only after a `sync` on the new link: a server that lags behind the previous
 *   one is up to date before any read.
 * - Watches belong to the current link, and end with it.
 */
export class SessionConnection implements ZooKeeperConnection, Liveness {
  state: ConnectionState = 'CONNECTING';
  isConnected = false;
  session: Session | undefined;
  server: string | undefined;
  #link?: PipelinedLink;
  /** Counts the attempts to connect, so that a name that resolves too late opens no link. */
  #attempt = 0;
  #failures = 0;
  #upSince = Infinity;
  #wasConnected = false;
  /** Bounds the attempt under way, or runs until the next one. */
  #timer?: Timer;
  #closed?: Promise<void>;
  #isResting = false;
  /** Whether its timers keep the process alive; the links of the driver always do. */
  #isBackground = false;
  readonly #listeners = new Set<(state: ConnectionState, reason: string) => void>();
  readonly #doubters: (() => void)[] = [];
  readonly #watches: WatchRegistry;

  constructor(private readonly options: SessionConnectionOptions) {
    this.#watches = new WatchRegistry(
      new IdleWatches(options.clock, (kind, path) => this.#removeWatch(kind, path)),
    );
  }

  get createsWithAcl(): boolean {
    return this.options.transport.createsWithAcl ?? false;
  }

  create(
    path: string,
    data: Buffer,
    mode: CreateMode,
    acl?: readonly AclEntry[],
  ): Promise<Created> {
    return this.#send({ op: 'create', path, data, mode, acl });
  }

  delete(path: string, version = -1): Promise<void> {
    return this.#send({ op: 'delete', path, version });
  }

  async exists(path: string, watcher?: Watcher): Promise<Stat | undefined> {
    if (watcher) this.#watches.add('data', path, watcher);
    try {
      return await this.#send({ op: 'exists', path, watch: watcher !== undefined });
    } catch (error) {
      if (ZooKeeperError.is(error, ReturnCode.NONODE)) return undefined; // the watch is set nevertheless
      if (watcher) this.#watches.remove('data', path, watcher);
      throw error;
    }
  }

  getData(path: string, watcher?: Watcher): Promise<{ data: Buffer; stat: Stat }> {
    return this.#sendWatched('data', watcher, {
      op: 'getData',
      path,
      watch: watcher !== undefined,
    });
  }

  setData(path: string, data: Buffer, version = -1): Promise<Stat> {
    return this.#send({ op: 'setData', path, data, version });
  }

  setAcl(path: string, acl: readonly AclEntry[]): Promise<void> {
    return this.#send({ op: 'setAcl', path, acl });
  }

  getChildren(path: string, watcher?: Watcher): Promise<string[]> {
    return this.#sendWatched('child', watcher, {
      op: 'getChildren',
      path,
      watch: watcher !== undefined,
    });
  }

  async multi<const O extends readonly Operation[]>(
    operations: O,
  ): Promise<{ readonly [I in keyof O]: OperationAnswers[O[I]['op']] }> {
    const path = operations[0]?.path ?? '/';
    const outcome = await this.#send({ op: 'multi', path, operations });
    if ('answers' in outcome)
      return outcome.answers as { [I in keyof O]: OperationAnswers[O[I]['op']] };
    const { rc, failed } = outcome;
    const { op, path: culprit } = operations[failed]!;
    throw new ZooKeeperError(rc, `multi[${failed}] ${op}`, culprit, false, failed);
  }

  sync(path: string): Promise<void> {
    return this.#send({ op: 'sync', path });
  }

  unwatch(path: string, watcher: Watcher): void {
    this.#watches.unwatch(path, watcher);
  }

  onStateChange(listener: (state: ConnectionState, reason: string) => void): () => void {
    const entry: typeof listener = (state, reason) => listener(state, reason);
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  onDoubt(listener: () => void): void {
    this.#doubters.push(listener);
  }

  /** Connects outside of any lease's scope, so that timers and callbacks have none either. */
  start(): void {
    if (this.state === 'CONNECTING' && this.#attempt === 0)
      LeaseScope.runOutside(() => this.#attach());
  }

  /**
   * Connects to a session that another connection has opened, which the servers then cut off from it.
   *
   * @param confirmedAt when a sign of life was sent of which the leader has learned
   */
  takeOver(credentials: SessionCredentials, confirmedAt: number): void {
    this.#keep(credentials, confirmedAt);
    this.start();
  }

  unref(): void {
    this.#isBackground = true;
  }

  /** Ends the session, and opens no link until `ref`. */
  async rest(): Promise<void> {
    if (this.state === 'CLOSED' || this.#isResting) return;
    this.#isResting = true;
    await this.#leave(() => {
      if (this.isConnected) this.#become('SUSPENDED', 'nothing is left of the boot but locks');
    });
  }

  ref(): void {
    this.#isBackground = false;
    if (!this.#isResting) return;
    this.#isResting = false;
    if (this.state !== 'CLOSED') LeaseScope.runOutside(() => this.#attach());
  }

  /** Resolves when the servers have been notified, as far as they can be reached. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #sendWatched<O extends 'getData' | 'getChildren'>(
    kind: WatchKind,
    watcher: Watcher | undefined,
    request: RequestOf<O>,
  ): Promise<Answers[O]> {
    if (watcher) this.#watches.add(kind, request.path, watcher); // before sending: the event may follow the answer at once
    try {
      return await this.#send<O>(request);
    } catch (error) {
      if (watcher) this.#watches.remove(kind, request.path, watcher);
      throw error;
    }
  }

  #send<O extends Request['op']>(request: RequestOf<O>): Promise<Answers[O]> {
    return (this.isConnected ? this.#link : undefined)?.send<O>(request) ?? this.#refuse(request);
  }

  /** Whether there was one does not matter: it may have fired, or it never was set; nor that the native driver cannot do it. */
  #removeWatch(kind: WatchKind, path: string): void {
    this.#send({ op: 'removeWatches', kind, path }).catch(() => {});
  }

  /** Rejects in a later macrotask: a loop of rejected requests must not starve the event loop. */
  #refuse({ op, path }: Request): Promise<never> {
    const error = new ZooKeeperError(ReturnCode.CONNECTIONLOSS, op, path);
    return new Promise((_, reject) => this.options.clock.setTimer(() => reject(error), 0));
  }

  #close(): Promise<void> {
    return this.#leave(() => this.#become('CLOSED', 'closed by its owner'));
  }

  /** Ends the session and all links, once `tell` has notified the listeners. */
  #leave(tell: () => void): Promise<void> {
    const [session, link] = [this.session, this.#link];
    this.session = this.#link = undefined;
    this.#attempt += 1;
    this.#timer?.cancel();
    tell();
    session?.end('the client was closed');
    link?.close();
    this.#watches.disconnect();
    return this.options.transport.close();
  }

  #become(state: ConnectionState, reason: string): void {
    this.state = state;
    this.isConnected = state === 'CONNECTED' || state === 'RECONNECTED';
    for (const listener of [...this.#listeners]) listener(state, reason);
  }

  #attach(): void {
    const attempt = ++this.#attempt;
    const isCurrent = () => attempt === this.#attempt;
    const fail = (reason: string) => void (isCurrent() && this.#attemptFailed(reason));
    const limit = this.#attemptLimit;
    this.#setTimer(limit, () => fail('the name service does not answer'));
    this.options.servers.next(limit).then(
      (address) => void (isCurrent() && this.#open(address)),
      (error: Error) => fail(error.message),
    );
  }

  #open(address: ServerAddress): void {
    const { transport, sessionTimeout, auth = [], clock } = this.options;
    const openedAt = clock.now();
    const server = (this.server = `${address.host}:${address.port}`);
    const isCurrent = () => this.#link === link;
    const drop = (reason: string) => void (isCurrent() && this.#drop(`${server}: ${reason}`));
    const transportLink = transport.open(
      { address, sessionTimeout, auth, credentials: this.session },
      {
        onConnected: (credentials) =>
          void (isCurrent() && this.#connected(link, credentials, openedAt, drop)),
        onDisconnected: drop,
        onExpired: (reason) => void (isCurrent() && this.#expired(reason)),
        onWatch: (type, path) => void (isCurrent() && this.#watches.fire(type, path)),
      },
    );
    const answered = (sentAt: number, byLeader: boolean) =>
      void (isCurrent() && this.session?.answered(sentAt, byLeader));
    const link = (this.#link = new PipelinedLink(transportLink, clock, answered, drop));
    const limit = this.#attemptLimit;
    this.#setTimer(limit, () => drop(`not connected within ${Math.round(limit)} ms`));
  }

  /** The servers have accepted the session; it may be used after a `sync`. */
  #connected(
    link: PipelinedLink,
    credentials: SessionCredentials,
    openedAt: number,
    drop: (reason: string) => void,
  ): void {
    this.#adopt(credentials, openedAt);
    if (this.#link !== link) return; // the timeout that was granted now has already elapsed
    link.sync().then(
      () => void (this.#link === link && this.#up(link)),
      (error: Error) => drop(error.message),
    );
  }

  /** Adopts the session that the servers returned; if it is not the requested one, the old session is lost. */
  #adopt({ id, password, timeout }: SessionCredentials, openedAt: number): void {
    const old = this.session;
    if (old?.id === id) return old.attached(timeout, openedAt);
    this.#keep({ id, password, timeout }, openedAt);
    if (old === undefined) return;
    this.#become('LOST', 'the servers have opened another session');
    old.end('the servers have opened another session');
  }

  #keep({ id, password, timeout }: SessionCredentials, confirmedAt: number): void {
    const { clock, tickTime, catchUp } = this.options;
    const session = new Session(id, password, timeout, clock, confirmedAt, tickTime, catchUp);
    this.session = session;
    session.onEnd((reason) => this.#sessionEnded(session, reason));
    session.onDoubt(() => {
      for (const listener of this.#doubters) listener();
    });
  }

  #up(link: PipelinedLink): void {
    const session = this.session;
    if (!session?.isAlive) return; // its end has closed the link
    this.#timer?.cancel();
    this.#upSince = this.options.clock.now();
    const state = this.#wasConnected ? 'RECONNECTED' : 'CONNECTED';
    this.#wasConnected = true;
    link.watch(session.patience);
    const { driver } = this.options.transport;
    this.#become(state, `session 0x${session.id}${driver ? `, driver "${driver}"` : ''}`);
  }

  /** Drops the link; the session may live on, so the next link attaches to it. */
  #drop(reason: string): void {
    const link = this.#link;
    const wasConnected = this.isConnected;
    this.#link = undefined;
    this.#timer?.cancel();
    if (wasConnected && this.options.clock.now() - this.#upSince >= STEADY) this.#failures = 0;
    if (wasConnected) this.#become('SUSPENDED', reason);
    link?.detach(this.session);
    this.#watches.disconnect();
    if (wasConnected) this.#attachLater();
    else this.#attemptFailed(reason);
  }

  #attemptFailed(reason: string): void {
    this.options.onAttemptFailed?.(reason);
    this.#attachLater();
  }

  #expired(reason: string): void {
    if (this.session) this.session.end(reason);
    else this.#drop(reason);
  }

  #sessionEnded(session: Session, reason: string): void {
    if (session !== this.session) return;
    const link = this.#link;
    this.session = this.#link = undefined;
    this.#timer?.cancel();
    this.#become('LOST', reason);
    this.#watches.disconnect();
    // Later in this turn: closing a link that is up may block, and the holders must learn of the loss first.
    queueMicrotask(() => link?.close());
    this.#attachLater();
  }

  #attachLater(): void {
    if (this.state === 'CLOSED') return;
    const { servers, sessionTimeout, random = Math.random } = this.options;
    this.#attempt += 1;
    const delay = reconnectDelay(this.#failures++ - servers.size, random);
    this.#setTimer(Math.min(delay, sessionTimeout / 20), () => this.#attach()); // a short session must not expire meanwhile
  }

  get #attemptLimit(): number {
    const { sessionTimeout } = this.options;
    const third = (this.session?.timeout ?? Math.max(sessionTimeout, 3 * FIRST_ATTEMPT)) / 3;
    return Math.min(third, LONGEST_ATTEMPT);
  }

  #setTimer(ms: number, fn: () => void): void {
    this.#timer?.cancel();
    this.#timer = LeaseScope.runOutside(() =>
      this.options.clock.setTimer(fn, ms, this.#isBackground),
    );
  }
}
