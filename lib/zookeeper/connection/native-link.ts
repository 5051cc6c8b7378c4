import { type NativeHandle, sendNative } from './native-handle.js';
import { codeName, ReturnCode, ZooKeeperError } from './zookeeper-error.js';
import type { Session } from './session.js';
import type { LinkListener, OpenOptions, Reply, Request, TransportLink } from './transport.js';

const NOT_CONNECTED = 0;
const CONNECTED = 3;
/** How long a closing link waits for a server that has fallen silent, in ms: as long as that of the other driver. */
const PATIENCE = 2_500;
const WATCH_EVENTS = ['created', 'deleted', 'changed', 'child'] as const;

/**
 * One driver object for one TCP connection. The driver is never allowed to reconnect by itself.
 *
 * Rules, each derived from a crash or a hang of the process:
 * - `state` is read after every call, in the same tick. An error while sending closes the socket without an event, and the
 *   event loop must not poll the stale descriptor: it aborts the process, or steals the events of a foreign connection.
 * - The consequences of a connection error are delivered in a later turn (`setImmediate`): a socket opened in the turn of
 *   the error would get the descriptor number of the closed one, and never receive an event.
 * - `close()` of a handle that is not connected is instant and leaves the session alone. `close()` of a connected handle
 *   ends the session, and blocks while the server hangs.
 */
export class NativeLink implements TransportLink {
  /** True once the end is reported to the owner, or the owner has ended the link: no further event is emitted. */
  #over = false;
  #isDetached = false;
  #isClosing = false;
  #isClosed = false;
  /** Reason to report if the first request fails. */
  #failure = 'no connection';
  /** Number of answered requests. */
  #answers = 0;
  #silence?: NodeJS.Timeout;
  #forgetSession?: () => void;

  /** @param onClosed called when the driver object is closed for good */
  constructor(
    private readonly handle: NativeHandle,
    private readonly listener: LinkListener,
    private readonly onClosed: (link: NativeLink) => void,
  ) {
    const emit: NativeHandle['emit'] = (event, _, detail) => this.#hear(event, detail);
    handle.emit = emit;
  }

  /** Starts to connect. Called once. */
  open(options: OpenOptions): void {
    const { handle } = this;
    const { address, sessionTimeout, auth, credentials } = options;
    const failure = handle.init({
      connect: `${address.host}:${address.port}`, // the driver splits at the last colon: IPv6 takes no brackets
      timeout: sessionTimeout,
      debug_level: 0,
      host_order_deterministic: true,
      // The driver mistakes the 11th partial read of one answer for a dead server, and ends the session.
      response_counter_limit: 0x7fffffff,
      ...(credentials && { client_id: credentials.id, client_password: credentials.password }),
    });
    if (failure instanceof Error) return this.#gone(failure.message);
    for (const { scheme, auth: secret } of auth)
      handle.add_auth(
        scheme,
        secret,
        (rc) =>
          rc === ReturnCode.AUTHFAILED &&
          this.#gone(`authentication (${scheme}) refused, ${codeName(rc)}`),
      );
    // Queued until the session is up. It also flushes the credentials, which the driver would otherwise keep until the next
    // event, so its answer comes after the verdict on them. Its failure is the only sign of a rejected attempt.
    handle.a_exists('/', false, (rc) =>
      ZooKeeperError.isTransport(rc) ? this.#failed(this.#failure, rc) : this.#connected(),
    );
    // An attempt that fails in the call itself leaves a handle that never does or reports anything.
    if (handle.state === NOT_CONNECTED) this.#gone('this address cannot be reached');
  }

  request(request: Request, reply: Reply): void {
    if (this.#over) return void setImmediate(reply, ReturnCode.CONNECTIONLOSS);
    const rc = sendNative(this.handle, request, (code, answer) => {
      this.#answers += 1;
      if (code === ReturnCode.CLOSING) return; // see `#failed`
      if (ZooKeeperError.isTransport(code)) setImmediate(reply, code);
      else reply(code, answer);
    });
    if (rc !== 0) setImmediate(reply, rc);
    if (this.handle.state !== CONNECTED) this.#gone('the connection broke while sending');
  }

  detach(session: Session | undefined): void {
    this.#over = true;
    this.#isDetached = true;
    if (this.handle.state !== CONNECTED) return this.#close();
    this.#awaitSilentServer(session);
  }

  close(): void {
    this.#over = true;
    if (this.handle.state !== CONNECTED) return this.#close();
    if (!this.#isClosing) this.#closeWhenQuiet();
  }

  #hear(event: string, detail: unknown): void {
    if (event === 'connect') {
      this.#failure = 'the server closed the connection before it accepted the credentials';
      if (!this.#over) this.listener.onProgress?.();
    }
    if (event === 'connecting') return void setImmediate(() => this.#disconnected());
    if (event === 'close') return void setImmediate(() => this.#ended(Number(detail)));
    const type = WATCH_EVENTS.find((known) => known === event);
    if (type !== undefined && !this.#over) this.listener.onWatch(type, String(detail));
  }

  #connected(): void {
    if (this.#over) return;
    const { client_id: id, client_password: password, timeout } = this.handle;
    this.listener.onConnected({ id, password, timeout });
  }

  #disconnected(): void {
    if (this.#isDetached && this.handle.state !== CONNECTED) return this.#close();
    this.#gone('the connection was lost');
  }

  #ended(code: number): void {
    if (this.#over) return;
    if (code !== ReturnCode.SESSIONEXPIRED)
      return this.#gone(`the servers closed the connection, ${codeName(code)}`);
    this.#over = true;
    this.#close();
    this.listener.onExpired('the servers have expired the session');
  }

  /** Ignores `CLOSING`: it comes with the driver's `close` event, which shows whether the session has expired. */
  #failed(what: string, rc: number): void {
    if (rc !== ReturnCode.CLOSING) this.#gone(`${what}, ${codeName(rc)} (${rc})`);
  }

  /** Ends the link. Notifies the owner in a later turn; closes a dead handle in this one. */
  #gone(reason: string): void {
    if (this.#over) return;
    this.#over = true;
    if (this.handle.state !== CONNECTED) this.#close();
    setImmediate(() => this.listener.onDisconnected(reason));
  }

  /**
   * Called when the handle is connected, but the server is silent, and the session is to continue without this link.
   * Closing the handle would end the session, so the link waits until the server drops it or the session ends elsewhere.
   * In the latter case it closes the session as soon as the server has answered once (closing does not block then);
   * otherwise the session's nodes would stay for as long as the driver sends pings.
   */
  #awaitSilentServer(session: Session | undefined): void {
    let isAnswering = false;
    const closeIfUnwanted = () => isAnswering && !session?.isAlive && this.close();
    this.handle.a_exists('/', false, (rc) => {
      isAnswering = !ZooKeeperError.isTransport(rc);
      setImmediate(closeIfUnwanted);
    });
    this.#forgetSession = session?.onEnd(() => setImmediate(closeIfUnwanted));
    if (this.handle.state !== CONNECTED) this.#close();
  }

  /**
   * Waits for all answers before closing. An answer that arrives while the driver closes makes it hang up at once, and the
   * reset that follows may overtake its request to end the session: the nodes would stay until the session expires.
   */
  #closeWhenQuiet(): void {
    this.#isClosing = true;
    this.handle.a_exists('/', false, () => setImmediate(() => this.#close()));
    if (this.handle.state !== CONNECTED) this.#close();
    else this.#closeWhenSilent();
  }

  #closeWhenSilent(): void {
    const answers = this.#answers;
    this.#silence = setTimeout(
      () => (answers === this.#answers ? this.#close() : this.#closeWhenSilent()),
      PATIENCE,
    );
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#silence);
    this.#forgetSession?.();
    this.handle.close();
    this.onClosed(this);
  }
}
