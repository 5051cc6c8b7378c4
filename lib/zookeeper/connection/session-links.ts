import type { Liveness } from '../../core/internal/client-lifecycle.js';
import { microtask } from '../../core/internal/timers.js';
import { LeaseScope } from '../../core/internal/lease-scope.js';
import { type AttemptOptions, ConnectionAttempts } from './connection-attempts.js';
import { PipelinedLink } from './pipelined-link.js';
import type { ServerAddress } from './server-list.js';
import { Session } from './session.js';
import type { SessionCredentials, Transport } from './transport.js';
import type { WatchRegistry } from './watch-registry.js';
import type { AuthInfo, ConnectionState } from './zookeeper-connection.js';

export interface SessionOptions extends AttemptOptions {
  readonly transport: Transport;
  /** Tick time of the servers in milliseconds. Default: 2,000. */
  readonly tickTime?: number;
  readonly auth?: readonly AuthInfo[];
  /** See `Session`. */
  readonly catchUp?: (() => void) | undefined;
}

/**
 * Keeps one session alive over many links: attaches, detaches, re-attaches, and opens a new session after a loss.
 *
 * Invariants:
 * - `#link` is the only link that counts: events of an older one are ignored.
 * - While `session` is set it has not ended; when it ends, the state is `LOST` before another session becomes visible.
 * - `CONNECTED` and `RECONNECTED` are reached only after a `sync` on the new link: a server that lags behind the previous
 *   one is up to date before any read.
 * - Watches belong to the current link, and end with it.
 */
export class SessionLinks implements Liveness {
  state: ConnectionState = 'CONNECTING';
  /** The link that requests are sent on; `undefined` unless the state is `CONNECTED` or `RECONNECTED`. */
  connectedLink: PipelinedLink | undefined;
  session: Session | undefined;
  /** The server of the latest attempt to connect, as `host:port`. */
  server: string | undefined;
  #link: PipelinedLink | undefined;
  #wasConnected = false;
  #isResting = false;
  #closed?: Promise<void>;
  readonly #attempts: ConnectionAttempts;
  readonly #listeners = new Set<(state: ConnectionState, reason: string) => void>();
  readonly #doubters: (() => void)[] = [];

  constructor(
    private readonly options: SessionOptions,
    private readonly watches: WatchRegistry,
  ) {
    this.#attempts = new ConnectionAttempts(
      options,
      (address) => this.#open(address),
      () => this.session,
    );
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
    if (this.state === 'CONNECTING' && !this.#attempts.haveBegun) this.#attach();
  }

  takeOver(credentials: SessionCredentials, confirmedAt: number): void {
    this.#keep(credentials, confirmedAt);
    this.start();
  }

  unref(): void {
    this.#attempts.isBackground = true;
  }

  /** Ends the session, and opens no link until `ref`. */
  async rest(): Promise<void> {
    if (this.state === 'CLOSED' || this.#isResting) return;
    this.#isResting = true;
    const wasConnected = this.connectedLink !== undefined;
    await this.#leave(() => {
      if (wasConnected) this.#become('SUSPENDED', 'nothing is left of the boot but locks');
    });
  }

  ref(): void {
    this.#attempts.isBackground = false;
    if (!this.#isResting) return;
    this.#isResting = false;
    if (this.state !== 'CLOSED') this.#attach();
  }

  close(): Promise<void> {
    this.#closed ??= this.#leave(() => this.#become('CLOSED', 'closed by its owner'));
    return this.#closed;
  }

  /** Ends the session and all links, once `change` has notified the listeners. */
  #leave(change: () => void): Promise<void> {
    const [session, link] = [this.session, this.#link];
    this.session = this.#link = undefined;
    this.#attempts.stop();
    change();
    session?.end('the client was closed');
    link?.close();
    this.watches.disconnect();
    return this.options.transport.close();
  }

  #become(state: ConnectionState, reason: string): void {
    this.state = state;
    this.connectedLink = state === 'CONNECTED' || state === 'RECONNECTED' ? this.#link : undefined;
    for (const listener of [...this.#listeners]) listener(state, reason);
  }

  #attach(): void {
    LeaseScope.runOutside(() => this.#attempts.begin());
  }

  #open(address: ServerAddress): void {
    const { transport, sessionTimeout, auth = [], clock } = this.options;
    const openedAt = clock.now();
    const server = (this.server = `${address.host}:${address.port}`);
    const isCurrent = () => this.#link === link;
    const drop = (reason: string) => void (isCurrent() && this.#drop(`${server}: ${reason}`));
    const bound = () =>
      void this.#attempts.bound((limit) => drop(`no answer within ${Math.round(limit)} ms`));
    const transportLink = transport.open(
      { address, sessionTimeout, auth, credentials: this.session },
      {
        onProgress: () => void (isCurrent() && bound()),
        onConnected: (credentials) => {
          if (!isCurrent()) return;
          this.#adopt(credentials, openedAt);
          if (!isCurrent()) return; // the timeout that was granted now has already elapsed
          bound(); // by what the session has left now
          this.#bringUp(link, drop);
        },
        onDisconnected: drop,
        onExpired: (reason) => void (isCurrent() && this.#expired(reason)),
        onWatch: (type, path) => void (isCurrent() && this.watches.fire(type, path)),
      },
    );
    const answered = (sentAt: number, byLeader: boolean) =>
      void (isCurrent() && this.session?.answered(sentAt, byLeader));
    const link = (this.#link = new PipelinedLink(transportLink, clock, answered, drop));
    bound();
  }

  /** The servers have accepted the session; it may be used after a `sync`. */
  #bringUp(link: PipelinedLink, drop: (reason: string) => void): void {
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
    const { session } = this;
    if (!session?.isAlive) return; // its end has closed the link
    this.#attempts.succeeded();
    const state = this.#wasConnected ? 'RECONNECTED' : 'CONNECTED';
    this.#wasConnected = true;
    link.watch(session.patience);
    const { driver } = this.options.transport;
    this.#become(state, `session 0x${session.id}${driver ? `, driver "${driver}"` : ''}`);
  }

  /** Drops the link; the session may live on, so the next link attaches to it. */
  #drop(reason: string): void {
    const link = this.#link;
    const wasConnected = this.connectedLink !== undefined;
    this.#link = undefined;
    if (wasConnected) this.#become('SUSPENDED', reason);
    link?.detach(this.session);
    this.watches.disconnect();
    if (wasConnected) this.#attempts.linkLost();
    else this.#attempts.failed(reason);
  }

  #expired(reason: string): void {
    if (this.session) this.session.end(reason);
    else this.#drop(reason);
  }

  #sessionEnded(session: Session, reason: string): void {
    if (session !== this.session) return;
    const link = this.#link;
    this.session = this.#link = undefined;
    this.#become('LOST', reason);
    this.watches.disconnect();
    // Later in this turn: closing a link that is up may block, and the holders must learn of the loss first.
    microtask(() => link?.close());
    this.#attempts.beginLater();
  }
}
